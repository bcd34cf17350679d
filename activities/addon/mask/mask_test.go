package mask

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
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
			if got := New([][]byte{[]byte(test.secret)}).Text(test.text); got != test.want {
				t.Errorf("it is %q, want %q", got, test.want)
			}
		})
	}
	t.Run("a long one in JSON", func(t *testing.T) {
		if got := New([][]byte{[]byte(long)}).Text(string(inJSON)); got != `{"password":"<secret>"}` {
			t.Errorf("it is %q", got)
		}
	})
	t.Run("a long one within a text in base64, wherever it begins", func(t *testing.T) {
		for before := range 5 {
			text := encode([]byte(strings.Repeat("u", before) + ":canary-canary:more"))
			got := New([][]byte{[]byte("canary-canary")}).Text(text)
			if !strings.Contains(got, Masked) || len(got) > len(text)-len("canary-canary")+len(Masked) {
				t.Errorf("%d bytes in, %s became %s", before, text, got)
			}
		}
	})
	t.Run("the longer of two that begin alike", func(t *testing.T) {
		if got := New([][]byte{[]byte("canary-canary"), []byte("canary-canary-two")}).Text("canary-canary-two"); got != Masked {
			t.Errorf("it is %q", got)
		}
	})
	t.Run("the lines of a key", func(t *testing.T) {
		key := "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAAAAAAAAAAAAAAAAAAAAAAA\n-----END KEY-----\n"
		if got := New([][]byte{[]byte(key)}).Text("it has MIIEvQIBADANBgkqhkiG9w0BAQEF in it"); got != "it has <secret> in it" {
			t.Errorf("it is %q", got)
		}
	})
}
