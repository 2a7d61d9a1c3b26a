package web

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// domain is an entry of the list.
type domain struct {
	host  string // in ASCII; "" for any
	below bool   // the hosts below it, and not itself
	port  string // "" for the scheme's own
}

// parseDomains reads the list. The error tells of every entry that is none.
func parseDomains(list []string) ([]domain, error) {
	var out []domain
	var faults []error
	for _, entry := range list {
		d, err := parseDomain(entry)
		if err != nil {
			faults = append(faults, fmt.Errorf("%q is no domain: %w", entry, err))
			continue
		}
		out = append(out, d)
	}
	return out, errors.Join(faults...)
}

func parseDomain(entry string) (d domain, err error) {
	host, port, some := strings.Cut(entry, ":")
	if some {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return d, errors.New("write a host, host:port, *.domain or *, without a scheme or a path")
		}
		d.port = port
	}
	if host == "*" {
		return d, nil
	}
	host, d.below = strings.CutPrefix(host, "*.")
	if d.host, err = ascii(host); err != nil || strings.ContainsAny(host, "*/") {
		return d, errors.New("write a host, host:port, *.domain or *, without a scheme or a path")
	}
	return d, nil
}

// ascii is a host's name in the one form in which hosts are compared.
func ascii(host string) (string, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.String(), nil
	}
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err == nil && name == "" {
		err = errors.New("there is no host")
	}
	return name, err
}

// refusal is why a URL is not asked for.
type refusal struct{ url, why string }

func (e *refusal) Error() string { return e.url + " " + e.why }

// allowed returns a *refusal for a URL that the list does not admit (guarantee 1).
func (f *Fetcher) allowed(u *url.URL) error {
	refuse := func(why string) error { return &refusal{u.Redacted(), why} }
	port := u.Port()
	own := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	switch {
	case own == "":
		return refuse("is no http or https URL")
	case u.User != nil:
		return refuse("holds a user's name: leave credentials out of URLs")
	case port == own:
		port = ""
	}
	host, err := ascii(u.Hostname())
	if err != nil {
		return refuse("names no host that could be looked up")
	}
	for _, d := range f.domains {
		if d.port != port && d.port != own {
			continue
		}
		if d.host == "" || d.host == host && !d.below || d.below && strings.HasSuffix(host, "."+d.host) {
			return nil
		}
	}
	return refuse("is not on the list of domains that may be fetched ([tools] web)")
}
