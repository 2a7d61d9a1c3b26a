package web

import (
	"fmt"
	"net/netip"
	"syscall"
)

// special is what is not public of the addresses that netip does not already name:
// the IANA registries of special-purpose addresses, and IPv6 ranges that stand for
// IPv4 addresses, which a gateway may translate to private ones.
var special = prefixes(
	"0.0.0.0/8",       // this network
	"100.64.0.0/10",   // carrier-grade NAT
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relays
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"240.0.0.0/4",     // reserved, and broadcast
	"2001::/23",       // protocol assignments, Teredo among them
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4
	"3fff::/20",       // documentation
)

// global is where IPv6 addresses of the public net are.
var global = netip.MustParsePrefix("2000::/3")

func prefixes(all ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range all {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// notPublic is the refusal of an address.
type notPublic struct{ addr netip.Addr }

func (e *notPublic) Error() string {
	return fmt.Sprintf("its address %s is not public: WebFetch does not reach private, local or special networks", e.addr)
}

// public returns an error for every address that is not one of the public net.
func public(addr netip.Addr) error {
	ok := addr.IsValid() && addr.Zone() == "" && !addr.Is4In6() && addr.IsGlobalUnicast() && !addr.IsPrivate() &&
		(addr.Is4() || global.Contains(addr))
	for _, p := range special {
		ok = ok && !p.Contains(addr)
	}
	if !ok {
		return &notPublic{addr}
	}
	return nil
}

// control is for net.Dialer: it sees each address just before the system connects to it.
func control(check func(netip.Addr) error) func(network, address string, _ syscall.RawConn) error {
	return func(network, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("cannot tell the address %q: %w", address, err)
		}
		return check(to.Addr())
	}
}
