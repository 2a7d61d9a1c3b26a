package web

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// Guarantee 2.
func TestOnlyPublicAddressesAreReached(t *testing.T) {
	for _, addr := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.127.255.255", "100.100.100.200", "127.0.0.1", "127.255.255.254",
		"169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255",
		"198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1",
		"100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "3fff::1", "3fff:fff::1",
		"4000::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "ff02::1", "ff0e::1", "2606:4700::1%eth0",
	} {
		if err := public(netip.MustParseAddr(addr)); err == nil || !strings.Contains(err.Error(), " is not public") {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if public(netip.Addr{}) == nil {
		t.Error("no address at all is public")
	}
	for _, addr := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.255.255", "169.255.0.0",
		"172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.1", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"2001:4860:4860::8888", "2003::1", "2606:4700::1111", "2a00:1450::1",
	} {
		if err := public(netip.MustParseAddr(addr)); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// Guarantee 2: what the system is about to connect to counts, however it is written.
func TestTheAddressOfAConnectionIsRead(t *testing.T) {
	check := control(public)
	for _, address := range []string{"127.0.0.1:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "[fe80::1%lo]:80", "localhost:80", "127.1:80", ":80", "/run/sock"} {
		if check("tcp", address, nil) == nil {
			t.Errorf("%s is let through", address)
		}
	}
	if err := check("tcp4", "8.8.8.8:80", nil); err != nil {
		t.Error(err)
	}
}

// Guarantee 1.
func TestTheListDecidesWhatIsFetched(t *testing.T) {
	f, err := New([]string{"example.com", "*.example.org", "Bücher.example", "host.test:8080", "93.184.216.34"})
	if err != nil {
		t.Fatal(err)
	}
	any, err := New([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]bool{
		"https://example.com": true, "http://EXAMPLE.com.:80/x?y#z": true, "https://example.com:443/": true, "https://b\u00fccher.example/": true,
		"https://xn--bcher-kva.example/": true, "http://a.example.org": true, "https://a.b.example.org/": true, "http://host.test:8080/": true, "http://93.184.216.34/": true,
		"https://example.com:8443": false, "https://example.com:80": false, "http://sub.example.com": false, "http://example.org": false, "http://notexample.com": false,
		"http://example.com.evil.test": false, "http://xexample.org": false, "http://host.test/": false, "http://host.test:8081/": false,
		"ftp://example.com": false, "file:///etc/passwd": false, "gopher://example.com": false, "example.com": false, "//example.com": false, "http://": false, "http:example.com": false,
		"http://user@example.com": false, "http://example.com@evil.test": false, "http://u:p@example.com": false, "http://127.0.0.1": false, "http://[::1]": false, "http://2130706433": false,
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.allowed(u); (err == nil) != want {
			t.Errorf("%s: %v", raw, err)
		}
		if err := any.allowed(u); (err == nil) != (strings.HasPrefix(raw, "http") && u.Host != "" && u.User == nil && (u.Port() == "" || u.Port() == "443" || strings.HasSuffix(raw, ":80/x?y#z"))) {
			t.Errorf("* and %s: %v", raw, err)
		}
	}
}

func TestAListThatHoldsNoDomainIsRefusedByEntry(t *testing.T) {
	_, err := New([]string{"ok.test", "https://example.com", "example.com/path", "", "a b", "*.*.com", "x*.com", "*.", "host:0", "host:70000", "[::1]", "::1"})
	if err == nil || strings.Contains(err.Error(), "ok.test") {
		t.Fatal(err)
	}
	if n := strings.Count(err.Error(), " is no domain: write a host, host:port, *.domain or *, without a scheme or a path"); n != 11 {
		t.Errorf("%d faults told:\n%v", n, err)
	}
}

// Guarantee 6.
func TestWithoutADomainThereIsNoTool(t *testing.T) {
	none, err := New(nil)
	if err != nil || len(none.Tools()) != 0 {
		t.Errorf("%v, %v", none.Tools(), err)
	}
	some, err := New([]string{"example.com"})
	if err != nil || len(some.Tools()) != 1 {
		t.Fatal(err)
	}
	if fetch := some.Tools()[0]; fetch.Asks() || fetch.Mutating || !fetch.Parallel || !fetch.Repeatable {
		t.Errorf("%+v", fetch)
	}
}
