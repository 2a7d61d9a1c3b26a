package auth

import (
	"fmt"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

func newFailures(t *testing.T, proxies ...string) *Failures {
	t.Helper()
	f, err := NewFailures(proxies)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// guarantee 7
func TestTheEleventhFailureWithinAMinuteIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, addr, other := newFailures(t), netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("192.0.2.8")
		for i := range FailuresAMinute {
			if !f.Allow(addr) {
				t.Fatalf("refused after %d failures", i)
			}
			f.Failed(addr)
			time.Sleep(time.Second)
		}
		if f.Allow(addr) {
			t.Error("one more is allowed")
		}
		if !f.Allow(other) {
			t.Error("another address is refused")
		}
		time.Sleep(time.Minute - FailuresAMinute*time.Second) // the first is a minute ago
		if !f.Allow(addr) {
			t.Error("refused although only nine failed within the last minute")
		}
		f.Failed(addr)
		if f.Allow(addr) {
			t.Error("allowed although ten failed within the last minute")
		}
		time.Sleep(time.Minute)
		for range FailuresAMinute {
			if !f.Allow(addr) {
				t.Fatal("refused for what is long ago")
			}
			f.Failed(addr)
		}
	})
}

// guarantee 7: looking is free, so a right credential never counts.
func TestAskingCostsNothing(t *testing.T) {
	f, addr := newFailures(t), netip.MustParseAddr("192.0.2.7")
	for range 100 {
		if !f.Allow(addr) {
			t.Fatal("refused")
		}
	}
}

// guarantee 7
func TestTheMemoryOfFailuresIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFailures(t)
		first := netip.MustParseAddr("192.0.2.7")
		for range FailuresAMinute {
			f.Failed(first)
		}
		for i := range 3 * rememberedAddresses {
			f.Failed(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
			if i%1000 == 0 && !f.Allow(first) {
				f.Failed(first) // stays the newest
			}
		}
		if n := f.order.Len(); n > rememberedAddresses || len(f.byAddr) != n {
			t.Errorf("%d addresses in order, %d by address, at most %d may be", n, len(f.byAddr), rememberedAddresses)
		}
		if f.Allow(first) {
			t.Error("who goes on failing was forgiven to make room")
		}
		time.Sleep(time.Minute)
		f.Failed(netip.MustParseAddr("192.0.2.9"))
		if n := f.order.Len(); n != 1 {
			t.Errorf("%d addresses are remembered a minute later, want 1", n)
		}
	})
}

func TestAMachineIsCountedOnceWhicheverOfItsIPv6AddressesItUses(t *testing.T) {
	f := newFailures(t)
	for i := range FailuresAMinute {
		f.Failed(netip.MustParseAddr(fmt.Sprintf("2001:db8:1:2::%d", i)))
	}
	if f.Allow(netip.MustParseAddr("2001:db8:1:2:ffff::1")) {
		t.Error("another address of the same /64 is allowed")
	}
	if !f.Allow(netip.MustParseAddr("2001:db8:1:3::1")) {
		t.Error("another /64 is refused")
	}
}

func TestOnlyTrustedProxiesSayWhereARequestComesFrom(t *testing.T) {
	proxies := []string{"10.0.0.0/8", "192.0.2.1", "2001:db8::1"}
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"no proxy", "198.51.100.4:5", nil, "198.51.100.4"},
		{"a client that lies", "198.51.100.4:5", []string{"203.0.113.9"}, "198.51.100.4"},
		{"one proxy", "10.1.2.3:5", []string{"203.0.113.9"}, "203.0.113.9"},
		{"a proxy by its address", "192.0.2.1:5", []string{"203.0.113.9"}, "203.0.113.9"},
		{"a client that lies to a proxy", "10.1.2.3:5", []string{"127.0.0.1, 203.0.113.9"}, "203.0.113.9"},
		{"two proxies", "10.1.2.3:5", []string{"203.0.113.9, 10.9.9.9"}, "203.0.113.9"},
		{"two headers", "10.1.2.3:5", []string{"198.51.100.1", "203.0.113.9,10.9.9.9"}, "203.0.113.9"},
		{"proxies alone", "10.1.2.3:5", []string{"10.4.4.4"}, "10.4.4.4"},
		{"a proxy that says nothing", "10.1.2.3:5", nil, "10.1.2.3"},
		{"rubbish", "10.1.2.3:5", []string{"203.0.113.9, rubbish"}, "10.1.2.3"},
		{"IPv4 in IPv6", "[::ffff:10.1.2.3]:5", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		{"IPv6", "[2001:db8::1]:5", []string{"2001:db8::2"}, "2001:db8::2"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		for _, h := range c.forwarded {
			r.Header.Add("X-Forwarded-For", h)
		}
		if got := newFailures(t, proxies...).Address(r).String(); got != c.want {
			t.Errorf("%s: from %s, want %s", c.name, got, c.want)
		}
	}
	if _, err := NewFailures([]string{"proxy.example"}); err == nil {
		t.Error("a name was taken for an address")
	}
}

func FuzzNoHeaderMakesAnAddressOfATrustedProxyOutOfNothing(f *testing.F) {
	f.Add("10.1.2.3:5", "203.0.113.9, 10.9.9.9")
	f.Add("[::1%lo]:5", "::ffff:1.2.3.4,,")
	f.Add("", ",")
	proxies, err := NewFailures([]string{"10.0.0.0/8"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, peer, forwarded string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = peer
		r.Header.Set("X-Forwarded-For", forwarded)
		addr := proxies.Address(r)
		r.Header.Del("X-Forwarded-For")
		if own := proxies.Address(r); own != addr && !proxies.trusts(own) {
			t.Errorf("the peer %s is taken for %s because of what it says", own, addr)
		}
		proxies.Failed(addr)
		proxies.Allow(addr)
	})
}
