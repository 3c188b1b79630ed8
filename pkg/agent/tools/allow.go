package tools

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

var (
	// ErrAllow means an entry of HTTPOptions.Allow that cannot be understood.
	ErrAllow = errors.New("tools: allow-list")
	// ErrRefused means a URL, or an address that a name leads to, that is not
	// allowed.
	ErrRefused = errors.New("not allowed")
)

// An allowed is an entry of the allow-list.
type allowed struct {
	name string     // in lower case; "" for an address
	ip   netip.Addr // the zero value for a name
	port uint16     // 0: that of the scheme
}

type allowList []allowed

// parseAllow reads the entries HOST and HOST:PORT.
func parseAllow(entries []string) (allowList, error) {
	var list allowList
	for _, entry := range entries {
		a, err := parseAllowed(entry)
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrAllow, entry, err)
		}
		list = append(list, a)
	}
	return list, nil
}

func parseAllowed(entry string) (a allowed, err error) {
	host, port, err := splitEntry(entry)
	if err != nil {
		return a, err
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return a, fmt.Errorf("port %.10q, expected 1 to 65535", port)
		}
		a.port = uint16(n)
	}
	a.name, a.ip, err = hostOf(host)
	return a, err
}

// splitEntry splits HOST:PORT, [HOST]:PORT, or HOST alone, which may be an
// address of IPv6 with or without brackets.
func splitEntry(entry string) (host, port string, err error) {
	switch {
	case strings.HasPrefix(entry, "[") && strings.HasSuffix(entry, "]"):
		host = entry[1 : len(entry)-1]
	case strings.HasPrefix(entry, "["), strings.Count(entry, ":") == 1:
		if host, port, err = net.SplitHostPort(entry); err != nil {
			return "", "", err
		}
		if port == "" {
			return "", "", errors.New("expected a port after the colon")
		}
	default:
		return entry, "", nil
	}
	if strings.HasPrefix(entry, "[") && !strings.Contains(host, ":") {
		return "", "", errors.New("brackets are for addresses of IPv6")
	}
	return host, port, nil
}

// hostOf reads a host: a name in lower case without a dot at its end, or an
// address.
func hostOf(host string) (name string, ip netip.Addr, err error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		switch {
		case ip.Zone() != "":
			return "", netip.Addr{}, errors.New("an address with a zone")
		case ip.Is4In6():
			return "", netip.Addr{}, errors.New("an IPv4 address in IPv6 form")
		}
		return "", ip, nil
	}
	name = strings.TrimSuffix(strings.ToLower(host), ".")
	if name == "" || len(name) > 253 {
		return "", netip.Addr{}, errors.New("expected the name of a host, or an IP address")
	}
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_') {
			return "", netip.Addr{}, fmt.Errorf("%q in the name of a host (other scripts are written as xn--…)", rune(c))
		}
	}
	return name, netip.Addr{}, nil
}

// ports are those of the schemes that are known.
var ports = map[string]uint16{"http": 80, "https": 443}

// checkURL reports a URL that must not be fetched.
func (l allowList) checkURL(u *url.URL) error {
	port := ports[u.Scheme]
	standard := port
	if port == 0 {
		return &told{fmt.Sprintf("scheme %.20q is not allowed, only http and https", u.Scheme), ErrRefused}
	}
	if u.User != nil {
		return &told{"a URL with a user or password is not allowed", ErrRefused}
	}
	name, ip, err := hostOf(u.Hostname())
	if err != nil {
		return &told{"the URL's host: " + err.Error(), ErrRefused}
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return &told{fmt.Sprintf("port %.10q", p), ErrRefused}
		}
		port = uint16(n)
	}
	for _, a := range l {
		if a.name == name && a.ip == ip && (a.port == port || a.port == 0 && port == standard) {
			return nil
		}
	}
	return &told{fmt.Sprintf("host %.100s is not allowed with port %d", u.Hostname(), port), ErrRefused}
}

// checkAddress reports an address that must not be dialled: one that is not
// public and not on the list itself. That a name is on the list says nothing
// about the addresses that it leads to, now or a moment later.
func (l allowList) checkAddress(address string) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return &told{"the host leads to no address", fmt.Errorf("%w: %s", ErrRefused, address)}
	}
	if public(a.Addr()) {
		return nil
	}
	for _, entry := range l {
		if entry.ip == a.Addr() && (entry.port == a.Port() || entry.port == 0 && (a.Port() == ports["http"] || a.Port() == ports["https"])) {
			return nil
		}
	}
	return &told{"the host leads to an address that is not public", fmt.Errorf("%w: %s", ErrRefused, address)}
}
