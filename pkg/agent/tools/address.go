package tools

import "net/netip"

// notPublic are the blocks of addresses that do not lead to a public host:
// private, shared, loopback, link-local, documentation, benchmarking,
// multicast, reserved, and those of IPv6 that stand for an address of IPv4
// (IANA's special-purpose address registries, RFC 6890).
var notPublic = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23",     // Teredo, benchmarking, ORCHID and other protocols
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4
	"3fff::/20",     // documentation
)

// globalUnicast is the only block of IPv6 that public hosts have addresses of.
// Outside are loopback, link-local, unique local, multicast, IPv4-mapped and
// -compatible addresses, and NAT64 (64:ff9b::/96, 64:ff9b:1::/48).
var globalUnicast = netip.MustParsePrefix("2000::/3")

func prefixes(list ...string) []netip.Prefix {
	var p []netip.Prefix
	for _, s := range list {
		p = append(p, netip.MustParsePrefix(s))
	}
	return p
}

// public reports whether an address leads to a public host.
func public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" || a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
