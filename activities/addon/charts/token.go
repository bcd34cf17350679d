package charts

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"example.com/fairlead/activities/fetch"
)

const maxToken = 1 << 20

// registryClient asks one registry for one repository, and gets a token for that when
// the registry wants one.
type registryClient struct {
	*session

	repository string
}

// registryClient gives the credentials of a session to the registry only if they are
// its own. A password waits for the registry to say how it wants it.
func (f *Fetcher) registryClient(s *session, home *url.URL, repository string) *registryClient {
	var creds *Credentials
	if fetch.OriginOf(home) == s.home {
		creds = &s.creds
	}
	c := &registryClient{session: f.sessionFor(home, creds), repository: repository}
	if c.creds.Token == "" {
		c.authorization = ""
	}
	return c
}

// Do sends a request, once more when the registry says how it wants to be asked.
func (c *registryClient) Do(req *http.Request) (*http.Response, error) {
	resp, err := c.send(req)
	if err != nil {
		return nil, err
	}
	// Blobs are often elsewhere: whoever has them does not say what we authorize with.
	if resp.StatusCode == http.StatusUnauthorized && fetch.OriginOf(resp.Request.URL) == c.home && c.creds.Token == "" {
		refused := errors.Join(statusError(resp.Request.URL, resp.StatusCode), resp.Body.Close())
		if err := c.authorize(req.Context(), resp.Header.Values("WWW-Authenticate"), refused); err != nil {
			return nil, err
		}
		if resp, err = c.send(req); err != nil {
			return nil, err
		}
	}
	return orStatus(resp)
}

// challenge is how a registry wants to be asked.
type challenge struct {
	scheme string
	params map[string]string
}

var challengeParam = regexp.MustCompile(`([A-Za-z]+)="([^"]*)"`)

func parseChallenge(header string) challenge {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
	c := challenge{scheme: strings.ToLower(scheme), params: map[string]string{}}
	for _, found := range challengeParam.FindAllStringSubmatch(rest, -1) {
		c.params[strings.ToLower(found[1])] = found[2]
	}
	return c
}

// authorize answers the first challenge that it can, or returns refused.
func (c *registryClient) authorize(ctx context.Context, headers []string, refused error) error {
	for _, header := range headers {
		asked := parseChallenge(header)
		switch {
		case asked.scheme == "bearer":
			token, err := c.token(ctx, asked)
			if err != nil {
				return err
			}
			c.authorization = "Bearer " + token
			return nil
		case asked.scheme == "basic" && c.creds != Credentials{}:
			c.authorization = c.creds.Header()
			return nil
		}
	}
	return refused
}

// token asks the realm of a registry, which gets the password too: the registry has
// declared it. It has to be reached as safely as the registry itself.
func (c *registryClient) token(ctx context.Context, asked challenge) (string, error) {
	realm, err := parseURL(asked.params["realm"])
	if err != nil {
		return "", fetch.Permanent("the realm of the registry: %w", err)
	}
	local := c.home.Scheme == fetch.SchemeHTTP && fetch.IsLoopback(realm.Hostname())
	if realm.Scheme != fetch.SchemeHTTPS && !local {
		return "", fetch.Permanent("the registry sends us to %s for a token, which is not https", fetch.Shown(realm))
	}
	query := realm.Query()
	query.Set("scope", "repository:"+c.repository+":pull")
	if service := asked.params["service"]; service != "" {
		query.Set("service", service)
	}
	realm.RawQuery = query.Encode()
	desk := &session{home: fetch.OriginOf(realm), creds: c.creds, authorization: c.creds.Header()}
	desk.client = &http.Client{Transport: c.client.Transport, CheckRedirect: desk.redirect}
	resp, err := desk.get(ctx, realm, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }() // what counts was read, or has failed
	return readToken(realm, resp.Body)
}

func readToken(realm *url.URL, body io.Reader) (string, error) {
	var answer struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(io.LimitReader(body, maxToken)).Decode(&answer); err != nil {
		return "", at(realm, orPermanent(err))
	}
	for _, token := range []string{answer.Token, answer.AccessToken} {
		if token != "" && !strings.ContainsAny(token, "\r\n") {
			return token, nil
		}
	}
	return "", at(realm, fetch.Permanent("it gave no token"))
}
