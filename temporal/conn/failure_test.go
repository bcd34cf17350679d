package conn

import (
	"strings"
	"testing"
)

func TestScrub(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"the user of a URL", "dial http://bob:canary@10.0.0.1:3128: refused", "dial http://***@10.0.0.1:3128: refused"},
		{"a user without a password", "git clone https://canary@host/x", "git clone https://***@host/x"},
		{"a bearer token", "GET /v1: Authorization: Bearer canary123456", "GET /v1: Authorization: Bearer ***"},
		{"basic credentials", `header "Proxy-Authorization: Basic Ym9iOmNhbmFyeQ=="`, `header "Proxy-Authorization: Basic ***"`},
		{"a message without secrets", "proxy-abc at eu-west1-b: not found", "proxy-abc at eu-west1-b: not found"},
		{"words", "which basic authentication cannot carry", "which basic authentication cannot carry"},
		{"an e-mail address", "sent to bob@example.com", "sent to bob@example.com"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Scrub(tt.in); got != tt.want {
				t.Errorf("Scrub(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
	t.Run("a long message is cut", func(t *testing.T) {
		if got := Scrub(strings.Repeat("x", 10_000)); len(got) > maxMessage+10 {
			t.Errorf("%d bytes, want about %d", len(got), maxMessage)
		}
	})
}
