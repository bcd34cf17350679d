package plan

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMask(t *testing.T) {
	const long = `p4ss/"wörd"+ long`
	encode := base64.StdEncoding.EncodeToString
	inJSON, err := json.Marshal(map[string]string{"password": long})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ secret, text, want string }{
		"a long one within a word":       {"canary-canary", "xcanary-canaryx", "x<secret>x"},
		"a long one, quoted by Go":       {long, fmt.Sprintf("Invalid value: %q", long), `Invalid value: "<secret>"`},
		"a long one in a URL":            {long, "https://u:" + url.QueryEscape(long) + "@host", "https://u:<secret>@host"},
		"a long one in base64":           {long, "data: " + encode([]byte(long)), "data: <secret>"},
		"a long one with its line break": {"canary-canary\n", "it is canary-canary here", "it is <secret> here"},
		"a short one that is a word":     {"abc", `bad "abc" here`, `bad "<secret>" here`},
		"a short one within a word":      {"abc", "abcd xabc abc_d", "abcd xabc abc_d"},
		"a short one in base64":          {"abc", "data: YWJj", "data: <secret>"},
		"a short one at both ends":       {"abc", "abc abc", "<secret> <secret>"},
		"no secret":                      {"", "some text", "some text"},
		"one of spaces":                  {"  ", "some  text", "some  text"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Mask(test.text, [][]byte{[]byte(test.secret)}); got != test.want {
				t.Errorf("it is %q, want %q", got, test.want)
			}
		})
	}
	t.Run("a long one in JSON", func(t *testing.T) {
		if got := Mask(string(inJSON), [][]byte{[]byte(long)}); got != `{"password":"<secret>"}` {
			t.Errorf("it is %q", got)
		}
	})
	t.Run("a long one within a text in base64, wherever it begins", func(t *testing.T) {
		for before := range 5 {
			text := encode([]byte(strings.Repeat("u", before) + ":canary-canary:more"))
			got := Mask(text, [][]byte{[]byte("canary-canary")})
			if !strings.Contains(got, Masked) || len(got) > len(text)-len("canary-canary")+len(Masked) {
				t.Errorf("%d bytes in, %s became %s", before, text, got)
			}
		}
	})
	t.Run("the longer of two that begin alike", func(t *testing.T) {
		if got := Mask("canary-canary-two", [][]byte{[]byte("canary-canary"), []byte("canary-canary-two")}); got != Masked {
			t.Errorf("it is %q", got)
		}
	})
	t.Run("the lines of a key", func(t *testing.T) {
		key := "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAAAAAAAAAAAAAAAAAAAAAAA\n-----END KEY-----\n"
		if got := Mask("it has MIIEvQIBADANBgkqhkiG9w0BAQEF in it", [][]byte{[]byte(key)}); got != "it has <secret> in it" {
			t.Errorf("it is %q", got)
		}
	})
}

func TestMaskObjects(t *testing.T) {
	type object = map[string]any
	secret := func(data object) object { return object{"kind": "Secret", "data": data} }
	tests := map[string]struct {
		secretKind            bool
		live, planned         object
		wantLive, wantPlanned object
		secrets               []string
	}{
		"a Secret's values": {
			secretKind:  true,
			live:        secret(object{"a": "b2xk", "b": "c2FtZQ==", "c": "Z29uZQ=="}),
			planned:     secret(object{"a": "bmV3", "b": "c2FtZQ==", "d": "bW9yZQ=="}),
			wantLive:    secret(object{"a": "<changed, old>", "b": "<unchanged>", "c": "<removed>"}),
			wantPlanned: secret(object{"a": "<changed, new>", "b": "<unchanged>", "d": "<added>"}),
		},
		"a new Secret with stringData": {
			secretKind: true,
			planned:    object{"kind": "Secret", "stringData": object{"a": "new"}},
			// What is not there has no object, and no data.
			wantPlanned: secret(object{"a": "<added>"}),
		},
		"a Secret whose data is a text": {
			secretKind: true, planned: object{"data": "canary"}, wantPlanned: object{"data": "<secret>"},
		},
		"a Secret whose stringData is a text": {
			secretKind: true, planned: object{"stringData": "canary"}, wantPlanned: object{"stringData": "<secret>"},
		},
		"a value that is a known secret": {
			secrets: []string{"canary-canary"}, live: object{"a": "old-canary"}, planned: object{"a": "canary-canary"},
			wantLive: object{"a": "<secret> (old)"}, wantPlanned: object{"a": "<secret> (new)"},
		},
		"a value in a list whose elements have names": {
			secrets:     []string{"canary-canary"},
			live:        object{"env": []any{object{"name": "x", "value": "y"}, object{"name": "pw", "value": "old-canary"}}},
			planned:     object{"env": []any{object{"name": "pw", "value": "canary-canary"}}},
			wantLive:    object{"env": []any{object{"name": "x", "value": "y"}, object{"name": "pw", "value": "<secret> (old)"}}},
			wantPlanned: object{"env": []any{object{"name": "pw", "value": "<secret> (new)"}}},
		},
		"a number that is a known secret": {
			secrets: []string{"1234567890"}, planned: object{"pin": int64(1234567890)}, wantPlanned: object{"pin": "<secret>"},
		},
		"what a short secret has in common with everything": {
			secrets: []string{"true", "8080", "abc"}, planned: object{"a": true, "b": "true", "c": int64(8080), "d": "abc"},
			wantPlanned: object{"a": true, "b": "true", "c": int64(8080), "d": "abc"},
		},
		"a field that becomes another kind of thing": {
			secrets: []string{"canary-canary"}, live: object{"a": []any{"canary-canary"}}, planned: object{"a": object{"b": "canary-canary"}},
			wantLive: object{"a": []any{"<secret>"}}, wantPlanned: object{"a": object{"b": "<secret>"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var secrets [][]byte
			for _, s := range test.secrets {
				secrets = append(secrets, []byte(s))
			}
			kind := claimKind
			if test.secretKind {
				kind = secretKind
			}
			live, planned := newMask(secrets).objects(kind, test.live, test.planned)
			if diff := cmp.Diff([]object{test.wantLive, test.wantPlanned}, []object{live, planned}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
