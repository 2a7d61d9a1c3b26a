package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"hitchpost/server/auth"
)

// FileName is the file that is read when none is named.
const FileName = "hitchpost.toml"

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// Find reads the file that flag names, else hitchpost.toml of the current folder if
// there is one, else returns ZeroConfig.
func Find(flag string) (*Config, error) {
	if flag != "" {
		return Load(flag)
	}
	c, err := Load(FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return ZeroConfig(), nil
	}
	return c, err
}

// Load reads and checks a file. What is wrong in it comes as one *Error.
func Load(path string) (*Config, error) {
	source, err := readFile(path)
	if err != nil {
		return nil, err
	}
	c, err := parse(path, source)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func readFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the configuration: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return "", fmt.Errorf("cannot read the configuration: %s is no file of at most %d bytes", path, maxFile)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the configuration: %w", err)
	}
	return string(raw), nil
}

func parse(path, source string) (*Config, error) {
	c := Default()
	r, err := decode(source, c)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	c.File, c.SecretFiles = path, r.secretFiles
	_, c.Tools.SandboxWritten = r.lines["tools.sandbox"]
	if r.lines != nil { // it is TOML
		r.validate(c)
	}
	if err := r.err(path); err != nil {
		return nil, err
	}
	return c, nil
}

// AuthTokens are the tokens of the file, for an auth.Keyring. None is in force
// without [[tokens]]: see GeneratedToken.
func (c *Config) AuthTokens() []*auth.Token {
	var tokens []*auth.Token
	for _, t := range c.Tokens {
		allow := auth.All
		if t.Allow != nil {
			allow = 0
			for _, name := range t.Allow {
				verb, _ := auth.ParseVerb(name) // validated
				allow |= verb
			}
		}
		tokens = append(tokens, auth.NewToken(t.Name, t.Owner, t.Token.Digest, t.Agents, allow))
	}
	return tokens
}

// Pin keeps what cannot change while a server runs, since its parts were built with
// it: next gets the values that the configuration in force has, and the keys that wait
// for a restart are returned. Whether approvals are on is among them because it
// decides which tools are offered at all.
func Pin(inForce, next *Config) []string {
	var keys []string
	for _, k := range []struct {
		key      string
		old, new any // pointers to one type
	}{
		{"listen", &inForce.Listen, &next.Listen},
		{"database", &inForce.Database, &next.Database},
		{"heartbeat", &inForce.Heartbeat, &next.Heartbeat},
		{"max_concurrent_replays", &inForce.MaxConcurrentReplays, &next.MaxConcurrentReplays},
		{"durability", &inForce.Durability, &next.Durability},
		{"allowed_origins", &inForce.AllowedOrigins, &next.AllowedOrigins},
		{"tls_cert", &inForce.TLSCert, &next.TLSCert},
		{"tls_key", &inForce.TLSKey, &next.TLSKey},
		{"log", &inForce.Log, &next.Log},
		{"approvals.enabled", &inForce.Approvals.Enabled, &next.Approvals.Enabled},
		{"tools.workspace", &inForce.Tools.Workspace, &next.Tools.Workspace},
		{"tools.sandbox", &inForce.Tools.Sandbox, &next.Tools.Sandbox},
		{"tools.network", &inForce.Tools.Network, &next.Tools.Network},
		{"tools.env", &inForce.Tools.Env, &next.Tools.Env},
		{"tools.web", &inForce.Tools.Web, &next.Tools.Web},
		{"mcp", &inForce.MCP, &next.MCP},
	} {
		old, now := reflect.ValueOf(k.old).Elem(), reflect.ValueOf(k.new).Elem()
		list := old.Kind() == reflect.Slice || old.Kind() == reflect.Map
		empty := list && old.Len() == 0 && now.Len() == 0 // [] is written, or the default
		if !empty && !reflect.DeepEqual(old.Interface(), now.Interface()) {
			now.Set(old)
			keys = append(keys, k.key)
		}
	}
	return keys
}

// URL is the address under which this machine reaches the server, e.g. http://127.0.0.1:7420.
func (c *Config) URL() string {
	scheme := "http"
	if c.TLSCert != "" {
		scheme = "https"
	}
	host := c.Listen
	for _, every := range []string{"0.0.0.0:", "[::]:", ":"} { // not addresses one can dial everywhere
		if port, ok := strings.CutPrefix(host, every); ok {
			host = "127.0.0.1:" + port
			break
		}
	}
	return scheme + "://" + host
}
