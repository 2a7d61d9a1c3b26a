package config

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hitchpost/server/auth"
)

// Bounds of an allow list, as set_policy has them (Agent Socket v1, set_policy).
const (
	maxPatterns     = 128
	maxPatternChars = 256
)

const (
	minHeartbeat      = Duration(100 * time.Millisecond)
	maxTokenNameBytes = 128
)

// validate reports what is of the right type and still cannot be.
func (r *report) validate(c *Config) {
	r.listen(c)
	r.choice("durability", c.Durability, "full", "normal")
	r.choice("resume", c.Resume, "stimulus", "start")
	r.choice("log", c.Log, "text", "json")
	r.notEmpty("database", c.Database)
	if c.Heartbeat < minHeartbeat {
		r.once("heartbeat", "must be at least %s", minHeartbeat)
	}
	r.atLeast(1, "replay_limit", c.ReplayLimit)
	r.atLeast(1, "max_concurrent_replays", c.MaxConcurrentReplays)
	r.atLeast(1, "queue_limit", c.QueueLimit)
	r.atLeast(1, "max_agents", c.MaxAgents)
	r.atLeast(1, "max_steps", c.MaxSteps)
	for i, origin := range c.AllowedOrigins {
		if _, _, err := auth.ParseOrigin(origin); err != nil {
			r.once(indexKey("allowed_origins", i), "%v", err)
		}
	}
	for i, proxy := range c.TrustedProxies {
		if !addressOrPrefix(proxy) {
			r.once(indexKey("trusted_proxies", i), "%q is no address such as 10.0.0.7 or 10.0.0.0/8", proxy)
		}
	}
	r.tokens(c)
	r.agents(c)
	r.providers(c)
	r.timeouts(c)
	r.atLeast(0, "compaction.budget", c.Compaction.Budget)
	r.tools(c)
	r.mcp(c)
}

// once adds a problem unless the key has one.
func (r *report) once(key, format string, args ...any) {
	if !r.has(key) {
		r.add(key, format, args...)
	}
}

func (r *report) atLeast(least int, key string, n int) {
	if n >= least {
		return
	}
	if n < 0 {
		r.once(key, "must not be negative")
		return
	}
	r.once(key, "must be at least %d", least)
}

func (r *report) choice(key, got string, allowed ...string) {
	if !slices.Contains(allowed, got) {
		r.once(key, "must be %s, not %q", orList(allowed), got)
	}
}

func (r *report) notEmpty(key, got string) {
	if got == "" {
		r.once(key, "must not be empty")
	}
}

func orList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

func (r *report) listen(c *Config) {
	_, port, err := net.SplitHostPort(c.Listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		r.once("listen", "%q is no address; write host:port, e.g. 127.0.0.1:7420", c.Listen)
	} else if !auth.Loopback(c.Listen) && len(c.Tokens) == 0 {
		r.once("listen", "%s can be reached from other machines and there are no [[tokens]]; "+
			"add one (`hitchpost token new` makes it) or listen on 127.0.0.1", c.Listen)
	}
	switch {
	case c.TLSCert == "" && c.TLSKey == "":
	case c.TLSCert == "":
		r.once("tls_key", "needs tls_cert beside it")
	case c.TLSKey == "":
		r.once("tls_cert", "needs tls_key beside it")
	default:
		if _, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey); err != nil {
			r.once("tls_cert", "cannot be used with tls_key: %v", err)
		}
	}
}

func addressOrPrefix(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	_, err := netip.ParsePrefix(text)
	return err == nil
}

func (r *report) tokens(c *Config) {
	names, digests := map[string]int{}, map[auth.Digest]int{}
	for i, t := range c.Tokens {
		at := indexKey("tokens", i)
		if t.Name == "" || len(t.Name) > maxTokenNameBytes {
			r.once(joinKey(at, "name"), "must have 1 to %d bytes; the log names the token by it", maxTokenNameBytes)
		} else if first, ok := names[t.Name]; ok {
			r.once(joinKey(at, "name"), "%q is also the name of %s", t.Name, indexKey("tokens", first))
		} else {
			names[t.Name] = i
		}
		r.notEmpty(joinKey(at, "owner"), t.Owner)
		if !t.Token.Set {
			r.once(joinKey(at, "token"), "is missing; write a literal, env:NAME, file:PATH or sha256:HEX")
		} else if first, ok := digests[t.Token.Digest]; ok {
			r.once(joinKey(at, "token"), "is the same as that of %s", indexKey("tokens", first))
		} else {
			digests[t.Token.Digest] = i
		}
		r.globs(joinKey(at, "agents"), t.Agents)
		for j, verb := range t.Allow {
			if _, err := auth.ParseVerb(verb); err != nil {
				r.once(indexKey(joinKey(at, "allow"), j), "%v", err)
			}
		}
	}
}

func (r *report) globs(key string, globs []string) {
	if len(globs) > maxPatterns {
		r.once(key, "has %d patterns; %d are the most", len(globs), maxPatterns)
	}
	for i, glob := range globs {
		if err := globError(glob); err != "" {
			r.once(indexKey(key, i), "the pattern %q %s", glob, err)
		}
	}
}

// globError finds the patterns that can match nothing, which nobody means to write.
func globError(glob string) string {
	switch {
	case glob == "":
		return "is empty and matches nothing"
	case utf8.RuneCountInString(glob) > maxPatternChars:
		return fmt.Sprintf("is longer than %d characters", maxPatternChars)
	case strings.ContainsRune(glob, 0):
		return "holds a NUL character"
	}
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '[':
			end := closing(glob, i+1)
			if end < 0 {
				return `matches nothing: its "[" is never closed; write \[ for the character itself`
			}
			i = end
		}
	}
	return ""
}

// closing finds the ] of the bracket whose inside starts at i, or -1.
func closing(glob string, i int) int {
	for ; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case ']':
			return i
		}
	}
	return -1
}

func (r *report) agents(c *Config) {
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		at, a := joinKey("agents", name), c.Agents[name]
		if name == "" {
			r.once(at, "an agent must have a name")
		}
		base := c.Agents[DefaultAgent]
		if name == DefaultAgent { // what others have from it is its own fault alone
			base = Agent{}
		}
		if !slices.Equal(a.Policy, base.Policy) {
			r.globs(joinKey(at, "policy"), a.Policy)
		}
		for _, role := range slices.Sorted(maps.Keys(a.Models)) {
			key := joinKey(joinKey(at, "models"), role)
			if role == "" {
				r.once(key, "a role must have a name")
			}
			if text := c.modelError(a.Models[role]); text != "" && a.Models[role] != base.Models[role] {
				r.once(key, "%s", text)
			}
		}
	}
}

// modelError tells why a provider/model cannot be used, or "".
func (c *Config) modelError(spec string) string {
	provider, model, ok := strings.Cut(spec, "/")
	switch _, known := c.Providers[provider]; {
	case !ok || provider == "" || model == "":
		return fmt.Sprintf("%q is no model; write provider/model, e.g. demo/guide", spec)
	case provider != DemoProvider && !known:
		return fmt.Sprintf("unknown provider %q; add [%s]%s", provider, joinKey("providers", provider), c.knownProviders())
	}
	return ""
}

func (c *Config) knownProviders() string {
	names := append([]string{DemoProvider}, slices.Sorted(maps.Keys(c.Providers))...)
	return " or use one of " + strings.Join(names, ", ")
}

func (r *report) providers(c *Config) {
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		at, p := joinKey("providers", name), c.Providers[name]
		switch {
		case name == DemoProvider:
			r.once(at, "%q is built in; choose another name", name)
		case name == "" || strings.Contains(name, "/"):
			r.once(at, "the name of a provider must not be empty nor hold a slash")
		}
		r.choice(joinKey(at, "api"), p.API, APIOpenAI, APIAnthropic)
		if !webURL(p.BaseURL) {
			r.once(joinKey(at, "base_url"), "must be an http or https address, e.g. https://openrouter.ai/api/v1")
		}
		r.atLeast(0, joinKey(at, "max_tokens"), p.MaxTokens)
		r.atLeast(0, joinKey(at, "retries"), p.Retries)
	}
}

func webURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

func (r *report) timeouts(c *Config) {
	for key, d := range map[string]Duration{
		"timeouts.connect": c.Timeouts.Connect, "timeouts.first_byte": c.Timeouts.FirstByte,
		"timeouts.stall": c.Timeouts.Stall, "timeouts.tool": c.Timeouts.Tool,
	} {
		if d == 0 {
			r.once(key, "must be more than 0, or nothing would end what hangs")
		}
	}
}

func (r *report) tools(c *Config) {
	r.choice("tools.sandbox", c.Tools.Sandbox, "auto", "landlock", "none")
	r.atLeast(1, "tools.result_limit", c.Tools.ResultLimit)
	if len(c.Tools.Workspace) == 0 {
		r.once("tools.workspace", `must name at least one folder, e.g. ["."]`)
	}
	for i, dir := range c.Tools.Workspace {
		r.notEmpty(indexKey("tools.workspace", i), dir)
	}
	for i, name := range c.Tools.Env {
		if name == "" || strings.Contains(name, "=") {
			r.once(indexKey("tools.env", i), "%q is no name of an environment variable", name)
		}
	}
	for i, domain := range c.Tools.Web {
		if domain == "" || strings.ContainsAny(domain, "/: ") {
			r.once(indexKey("tools.web", i), "%q is no domain; write e.g. example.org", domain)
		}
	}
	for i, pattern := range c.Secrets.Patterns {
		if _, err := regexp.Compile(pattern); err != nil {
			r.once(indexKey("secrets.patterns", i), "is no regular expression: %v", err)
		}
	}
}

var mcpName = regexp.MustCompile(`^[a-z0-9_-]+$`)

func (r *report) mcp(c *Config) {
	for _, name := range slices.Sorted(maps.Keys(c.MCP)) {
		at, m := joinKey("mcp", name), c.MCP[name]
		if !mcpName.MatchString(name) {
			r.once(at, "a server's name is made of a-z, 0-9, _ and -: it becomes part of its tools' names")
		}
		switch {
		case m.URL != "" && len(m.Env) > 0:
			r.once(joinKey(at, "env"), "is for a command, this server has a url")
		case m.URL == "" && m.Bearer != (Secret{}):
			r.once(joinKey(at, "bearer"), "is for a url, this server has a command")
		case len(m.Command) > 0 && m.URL != "":
			r.once(at, "has both command and url; keep one")
		case m.URL != "" && !webURL(m.URL):
			r.once(joinKey(at, "url"), "must be an http or https address")
		case m.URL == "" && (len(m.Command) == 0 || m.Command[0] == ""):
			r.once(at, "needs a command to start or a url to connect to")
		}
		r.choice(joinKey(at, "approval"), m.Approval, "never", "policy", "always")
		if m.Timeout == 0 {
			r.once(joinKey(at, "timeout"), "must be more than 0")
		}
	}
}
