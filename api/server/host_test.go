package server

import (
	"strings"
	"testing"
)

func TestAHostHasOneSpelling(t *testing.T) {
	label := strings.Repeat("a", 63)
	long := label + "." + label + "." + label + "." + label[:61]
	for _, tt := range []struct {
		name, text, want string
	}{
		{"none", "", ""},
		{"a name", "shop.example", "shop.example"},
		{"upper case, a dot at the end, a port", "SHOP.Example.:443", "shop.example"},
		{"one label", "localhost:8080", "localhost"},
		{"underscores and hyphens", "_dmarc.r3---sn.s-.example", "_dmarc.r3---sn.s-.example"},
		{"the longest name", long, long},
		{"digits", "4.example:1", "4.example"},
		{"IPv4", "192.0.2.1", "192.0.2.1"},
		{"IPv4 with a port", "192.0.2.1:80", "192.0.2.1"},
		{"IPv4 with a dot", "192.0.2.1.", "192.0.2.1"},
		{"IPv6", "::1", "::1"},
		{"IPv6 in brackets", "[::1]", "::1"},
		{"IPv6 with a port", "[::1]:443", "::1"},
		{"IPv6 in another spelling", "[2001:DB8:0::0:1]", "2001:db8::1"},
		{"IPv4 in IPv6", "::ffff:192.0.2.1", "192.0.2.1"},
		{"punycode", "XN--mnchen-3ya.example", "xn--mnchen-3ya.example"},
		{"not ASCII", "München.example:443", "xn--mnchen-3ya.example"},
		{"not ASCII, with other dots", "münchen。example。", "xn--mnchen-3ya.example"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := hostOf(tt.text)
			if err != nil || got != tt.want {
				t.Fatalf("%q is %q (%v), want %q", tt.text, got, err, tt.want)
			}
			if again, err := hostOf(got); again != got || err != nil {
				t.Errorf("and %q is %q (%v)", got, again, err)
			}
		})
	}
}

func TestWhatIsNoHostIsRefused(t *testing.T) {
	for _, text := range []string{
		"https://shop.example/", "//shop.example", "shop.example/cart", "a/b", "a b", " shop.example", "user@shop.example", "shop.example?a",
		"*.shop.example", "a..b", ".", "..", ".example", "shop.example..", ":443", "shop.example:", "shop.example:https", "shop.example:65536",
		"shop.example:1:2", "[::1", "::1]", "[::1]443", "[::1]:", "[::1]x", "[192.0.2.1]", "[shop.example]", "[]", "fe80::1%eth0", "[fe80::1%25eth0]",
		"1.2.3", "192.0.2.256", "010.0.2.1", "1.2.3.4.5", "１９２.0.2.1", "℀.example", "a\x00b", "a\nb", "\u202e", "\u200d.example", "\xff", "a%20b",
		strings.Repeat("a", 64) + ".example", strings.Repeat("a.", 127), strings.Repeat("ü", 100) + ".example",
	} {
		if got, err := hostOf(text); err == nil {
			t.Errorf("%q is taken for the host %q", text, got)
		}
	}
}

func FuzzHosts(f *testing.F) {
	for _, text := range []string{"shop.example:443", "[::1]:1", "münchen.example", "a。b", "１.２.３.４", "xn--a", "%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		host, err := hostOf(text)
		if err != nil {
			return
		}
		if again, err := hostOf(host); again != host || err != nil {
			t.Errorf("%q is %q, and that is %q (%v)", text, host, again, err)
		}
	})
}
