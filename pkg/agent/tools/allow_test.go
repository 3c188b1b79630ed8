package tools

import (
	"errors"
	"net/netip"
	"net/url"
	"testing"
)

func TestPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "8.8.8.8": true, "93.184.215.14": true, "100.63.255.255": true, "100.128.0.0": true, "172.15.255.255": true, "172.32.0.0": true, "192.0.1.0": true, "223.255.255.255": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.0": false, "10.255.255.255": false, "100.64.0.0": false, "100.127.255.255": false, "127.0.0.1": false, "127.255.255.254": false,
		"169.254.0.1": false, "169.254.169.254": false, "172.16.0.0": false, "172.31.255.255": false, "192.0.0.1": false, "192.0.2.255": false, "192.88.99.1": false, "192.168.0.0": false,
		"198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false,
		"2606:4700::1111": true, "2a00:1450::1": true, "2001:4860:4860::8888": true,
		"::": false, "::1": false, "::7f00:1": false, "::ffff:127.0.0.1": false, "::ffff:8.8.8.8": false, "64:ff9b::7f00:1": false, "64:ff9b::808:808": false, "64:ff9b:1::1": false,
		"100::1": false, "2001::1": false, "2001:2::1": false, "2001:10::1": false, "2001:db8::1": false, "2002:7f00:1::": false, "3fff::1": false, "4000::1": false, "5f00::1": false,
		"fc00::1": false, "fd12:3456::1": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "ff02::1": false, "2606:4700::1%eth0": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

func TestParseAllow(t *testing.T) {
	for _, entry := range []string{"", " ", "http://a.test", "a.test/", "*.a.test", "a.test:", "a.test:0", "a.test:65536", "a.test:-1", "a.test:80:80", ":80", "u@a.test", "münchen.test", "::ffff:1.2.3.4", "[::ffff:1.2.3.4]:80", "[a.test]:80", "[1.2.3.4]", "[::1", "fe80::1%eth0", "a b"} {
		if list, err := parseAllow([]string{entry}); !errors.Is(err, ErrAllow) {
			t.Errorf("%q: %v, %v", entry, err, list)
		}
	}
	list, err := parseAllow([]string{"A.Test.", "b.test:8080", "1.2.3.4", "127.0.0.1:9000", "::1", "[2606:4700::1]:8443", "[fd00::1]"})
	must(t, err)
	for u, good := range map[string]bool{
		"http://a.test": true, "https://a.test": true, "http://a.test:80": true, "https://A.TEST.:443/x": true, "http://a.test:443": false, "http://a.test:8080": false,
		"http://b.test:8080": true, "https://b.test:8080": true, "http://b.test": false, "http://x.a.test": false, "http://a.test.b.test": false,
		"http://1.2.3.4": true, "http://1.2.3.5": false, "http://127.0.0.1:9000": true, "http://127.0.0.1": false,
		"http://[::1]": true, "http://[0:0:0:0:0:0:0:1]": true, "https://[2606:4700::1]:8443": true, "https://[2606:4700::1]": false, "http://[fd00::1]:80": true,
	} {
		parsed, err := url.Parse(u)
		must(t, err)
		if err := list.checkURL(parsed); (err == nil) != good {
			t.Errorf("%s: %v, want %v", u, err, good)
		}
	}
	for address, good := range map[string]bool{
		"8.8.8.8:1234": true, "127.0.0.1:9000": true, "127.0.0.1:9001": false, "[::1]:80": true, "[::1]:443": true, "[::1]:8080": false, "10.0.0.1:80": false,
		"[fd00::1]:443": true, "[fd00::2]:443": false, "[::ffff:127.0.0.1]:9000": false, "[fe80::1%lo]:80": false, "nonsense": false, "": false,
	} {
		if err := list.checkAddress(address); (err == nil) != good {
			t.Errorf("%s: %v, want %v", address, err, good)
		}
	}
}

// FuzzURL checks that what passes the list is what a client would dial.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{"http://a.test", "https://a.test:443/x?y#z", "http://a.test@b.test", "http://a.test%2eb", "http://[::1]", "HTTP://A.TEST.", "http://127.0.0.1:80\\@a.test"} {
		f.Add(seed)
	}
	list, err := parseAllow([]string{"a.test", "127.0.0.1:80"})
	must(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil || list.checkURL(u) != nil {
			return
		}
		again, err := url.Parse(u.String())
		if err != nil {
			return // no request is made of it
		}
		switch host := again.Hostname(); {
		case len(host) == len("a.test.") && (host[6] == '.') || len(host) == len("a.test"):
		case host == "127.0.0.1" && (again.Port() == "80" || again.Port() == "" && again.Scheme == "http"):
		default:
			t.Errorf("%q leads to %s", text, again.Host)
		}
	})
}
