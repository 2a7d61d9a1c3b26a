package auth

import (
	"container/list"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	// FailuresAMinute is how many credentials of one address may fail within any minute
	// before it is refused unheard.
	FailuresAMinute = 10

	// rememberedAddresses bounds the memory, at about 200 bytes an address. Beyond it
	// whose last failure is longest ago is forgiven.
	rememberedAddresses = 10_000
)

// Failures counts the credentials that failed, by the address they came from, so that
// secrets cannot be tried at will. A right credential costs nothing. It is safe for
// concurrent use.
type Failures struct {
	mu      sync.Mutex
	proxies []netip.Prefix
	byAddr  map[netip.Addr]*list.Element
	order   *list.List // of *failing, the newest failure last
}

// failing is an address with failures in the last minute.
type failing struct {
	addr  netip.Addr
	times [FailuresAMinute]time.Time // a ring; zero where there was none
	next  int                        // the oldest
}

// NewFailures counts nobody yet. proxies are as in SetProxies.
func NewFailures(proxies []string) (*Failures, error) {
	f := &Failures{byAddr: map[netip.Addr]*list.Element{}, order: list.New()}
	return f, f.SetProxies(proxies)
}

// SetProxies names the addresses or prefixes whose X-Forwarded-For counts.
func (f *Failures) SetProxies(proxies []string) error {
	prefixes := make([]netip.Prefix, 0, len(proxies))
	for _, text := range proxies {
		if addr, err := netip.ParseAddr(text); err == nil {
			addr = addr.Unmap()
			prefixes = append(prefixes, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return fmt.Errorf("%q is neither an address nor a prefix", text)
		}
		prefixes = append(prefixes, prefix)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.proxies = prefixes
	return nil
}

// Address is where a request comes from: its peer, or behind trusted proxies the newest
// address of X-Forwarded-For that is none of theirs. What a client wrote there itself
// stands before that and counts for nothing.
func (f *Failures) Address(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{} // no address of this world: all of them share a count
	}
	addr, _ := netip.ParseAddr(host)
	addr = addr.Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && f.trusts(addr); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = hop.Unmap().WithZone("")
	}
	return addr
}

func (f *Failures) trusts(addr netip.Addr) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.proxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// subject is who is counted: one machine has a whole /64 of IPv6 addresses.
func subject(addr netip.Addr) netip.Addr {
	if addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return addr
}

// Allow tells whether a credential of the address may be looked at: fewer than
// FailuresAMinute of its credentials failed within the last minute.
func (f *Failures) Allow(addr netip.Addr) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.byAddr[subject(addr)]
	if !ok {
		return true
	}
	x := e.Value.(*failing)
	return time.Since(x.times[x.next]) >= time.Minute // a zero time is long ago
}

// Failed notes that a credential of the address failed.
func (f *Failures) Failed(addr netip.Addr) {
	addr = subject(addr)
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.byAddr[addr]
	if !ok {
		f.makeRoom()
		e = f.order.PushBack(&failing{addr: addr})
		f.byAddr[addr] = e
	}
	x := e.Value.(*failing)
	x.times[x.next] = time.Now()
	x.next = (x.next + 1) % len(x.times)
	f.order.MoveToBack(e)
}

// makeRoom drops who has not failed for a minute, and somebody in any case if there are
// too many. The caller holds mu.
func (f *Failures) makeRoom() {
	for e := f.order.Front(); e != nil; e = f.order.Front() {
		x := e.Value.(*failing)
		newest := x.times[(x.next+len(x.times)-1)%len(x.times)]
		if time.Since(newest) < time.Minute && f.order.Len() < rememberedAddresses {
			return
		}
		f.order.Remove(e)
		delete(f.byAddr, x.addr)
	}
}
