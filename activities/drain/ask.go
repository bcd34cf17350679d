package drain

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/temporal/wire"
)

// answer has what matters of what the api says of a proxy, or of why it does not.
type answer struct {
	Phase        string `json:"phase"`
	Host         string `json:"host"`
	Port         int32  `json:"port"`
	ActiveLeases *int   `json:"activeLeases"`
	Bans         *int   `json:"bans"`
	Error        string `json:"error"`
}

// ask asks the api about a Proxy; known is false when it does not know it. An api that
// cannot be asked is no failure: the error is that it is to be asked again.
func (a *Activities) ask(ctx context.Context, ref wire.ProxyRef) (said answer, known bool, err error) {
	if a.options.URL == "" {
		return answer{}, false, later("nobody knows the leases of Proxy %s: start the worker with --%s", ref, FlagURL)
	}
	req, err := a.request(ctx, ref)
	if err != nil {
		return answer{}, false, later("ask the api about Proxy %s: %v", ref, err)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return answer{}, false, later("ask the api about Proxy %s (--%s): %v", ref, FlagURL, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return answer{}, false, later("read what the api says of Proxy %s: %v", ref, err)
	}
	return understand(ref, resp.StatusCode, body)
}

func (a *Activities) request(ctx context.Context, ref wire.ProxyRef) (*http.Request, error) {
	base := strings.TrimRight(a.options.URL, "/")
	address := base + "/v1/proxies/" + url.PathEscape(ref.Namespace) + "/" + url.PathEscape(ref.Name)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil || a.options.TokenFile == "" {
		return req, err
	}
	token, err := os.ReadFile(filepath.Clean(a.options.TokenFile))
	if err != nil {
		return nil, fmt.Errorf("read the token (--%s): %w", FlagTokenFile, err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	return req, nil
}

func understand(ref wire.ProxyRef, code int, body []byte) (said answer, known bool, err error) {
	readable := json.Unmarshal(body, &said) == nil
	switch {
	case code == http.StatusNotFound && said.Error == "unknown_proxy":
		return said, false, nil
	case code == http.StatusUnauthorized:
		return said, false, later("the api does not know the token of the worker: check --%s", FlagTokenFile)
	case code != http.StatusOK:
		return said, false, later("the api answers %d %s when asked about Proxy %s", code, said.Error, ref)
	case !readable || said.ActiveLeases == nil:
		return said, false, later("what answers at --%s is no api of Fairlead", FlagURL)
	}
	return said, true, nil
}

func later(format string, args ...any) error {
	return &outcome.NotYet{After: lookEvery, What: fmt.Sprintf(format, args...)}
}
