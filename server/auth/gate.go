package auth

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Gate refuses requests that a foreign web page made with its visitor's browser. It
// stands before every surface: sockets, REST, pages.
type Gate struct {
	loopback bool
	hosts    map[string]bool // names a loopback listener answers to, lower case
	origins  map[string]bool // normalised
}

// NewGate makes the gate of a listener. listen is host:port as configured; origins
// are the allowed_origins, which ParseOrigin accepts.
func NewGate(listen string, origins []string) (*Gate, error) {
	g := &Gate{
		loopback: Loopback(listen),
		hosts:    map[string]bool{"localhost": true},
		origins:  map[string]bool{},
	}
	if host, _, err := net.SplitHostPort(listen); err == nil {
		g.hosts[strings.ToLower(host)] = true
	}
	for _, text := range origins {
		origin, host, err := ParseOrigin(text)
		if err != nil {
			return nil, err
		}
		g.origins[origin] = true
		g.hosts[host] = true
	}
	return g, nil
}

// Check returns why the request must be answered 403, or nil.
func (g *Gate) Check(r *http.Request) error {
	if err := g.checkHost(r.Host); err != nil {
		return err
	}
	return g.checkOrigin(r)
}

// checkHost: a page at evil.example may point that name at 127.0.0.1 and is then of
// the same origin as we are, but it cannot choose the Host its browser sends. An
// address is never such a name.
func (g *Gate) checkHost(hostport string) error {
	if !g.loopback {
		return nil
	}
	host := hostname(hostport)
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() || g.hosts[host] {
		return nil
	}
	return fmt.Errorf("the Host %q is not a name of this server; "+
		"if it is, put its origin into allowed_origins", hostport)
}

func (g *Gate) checkOrigin(r *http.Request) error {
	headers := r.Header.Values("Origin")
	if len(headers) == 0 {
		return nil // not a browser, or a request of our own page that needs none
	}
	if len(headers) == 1 {
		origin, _, err := ParseOrigin(headers[0])
		if err == nil && (g.origins[origin] || ofHost(origin, r.Host)) {
			return nil
		}
	}
	return fmt.Errorf("the Origin %q may not use this server; "+
		"if it should, put it into allowed_origins", strings.Join(headers, ", "))
}

// ofHost tells whether a normalised origin is a page of the host a request asks
// for. The scheme is left out: behind a proxy that ends TLS we do not know ours.
func ofHost(origin, hostport string) bool {
	scheme, own, _ := strings.Cut(origin, "://")
	same, _, err := ParseOrigin(scheme + "://" + hostport)
	return err == nil && same == scheme+"://"+own
}

// ParseOrigin reads a web origin, scheme://host or scheme://host:port with http or
// https, and returns it normalised (lower case, no default port) beside its host.
func ParseOrigin(text string) (origin, host string, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", "", fmt.Errorf("%q is no origin; write one as https://host or https://host:port", text)
	}
	host = strings.ToLower(u.Hostname())
	origin = u.Scheme + "://" + strings.ToLower(u.Host)
	if port := u.Port(); port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		origin = u.Scheme + "://" + bracketed(host)
	}
	return origin, host, nil
}

func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// hostname is the host of a Host header, without its port and brackets, lower case.
func hostname(hostport string) string {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// Loopback tells whether a listen address (host:port) is reached only from this
// machine. A name other than localhost is not taken to be.
func Loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
