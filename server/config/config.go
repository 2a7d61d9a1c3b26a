package config

// Config is one configuration, complete and valid. Durations are never negative.
type Config struct {
	File        string   `toml:"-"` // where it was read from, "" without a file
	SecretFiles []string `toml:"-"` // what its tokens and keys were read from by file:PATH

	Listen               string   `toml:"listen"`   // host:port
	Database             string   `toml:"database"` // path
	Heartbeat            Duration `toml:"heartbeat"`
	ReplayLimit          int      `toml:"replay_limit"` // events
	MaxConcurrentReplays int      `toml:"max_concurrent_replays"`
	QueueLimit           int      `toml:"queue_limit"` // events
	MaxAgents            int      `toml:"max_agents"`
	MaxSteps             int      `toml:"max_steps"`
	Durability           string   `toml:"durability"` // full | normal
	Resume               string   `toml:"resume"`     // stimulus | start
	AllowedOrigins       []string `toml:"allowed_origins"`
	TrustedProxies       []string `toml:"trusted_proxies"` // addresses or prefixes
	TLSCert              string   `toml:"tls_cert"`        // path; "" for plain HTTP
	TLSKey               string   `toml:"tls_key"`
	Log                  string   `toml:"log"` // text | json

	Tokens     []Token             `toml:"tokens"`
	Agents     map[string]Agent    `toml:"agents"` // "default" is always there
	Providers  map[string]Provider `toml:"providers"`
	Approvals  Approvals           `toml:"approvals"`
	Timeouts   Timeouts            `toml:"timeouts"`
	Compaction Compaction          `toml:"compaction"`
	Tools      Tools               `toml:"tools"`
	Secrets    Secrets             `toml:"secrets"`
	MCP        map[string]MCP      `toml:"mcp"`
}

// Token is one entry of [[tokens]]. See AuthTokens.
type Token struct {
	Name   string    `toml:"name"`
	Token  TokenHash `toml:"token"`
	Owner  string    `toml:"owner"`
	Agents []string  `toml:"agents"` // nil: all of the owner's sessions
	Allow  []string  `toml:"allow"`  // nil: every verb
}

// Agent is what a session is made of. A member that [agents.X] leaves out has the
// value of [agents.default].
type Agent struct {
	System string            `toml:"system"`
	Policy []string          `toml:"policy"` // File.fnmatch globs over tool names
	Models map[string]string `toml:"models"` // role → provider/model
}

// Provider is a model server.
type Provider struct {
	API       string `toml:"api"` // openai | anthropic
	BaseURL   string `toml:"base_url"`
	APIKey    Secret `toml:"api_key"`    // "" for servers that want none
	MaxTokens int    `toml:"max_tokens"` // 0: the provider's own limit
	Retries   int    `toml:"retries"`    // tries after the first
}

// Approvals says whether tools may have to ask a person.
type Approvals struct {
	Enabled bool     `toml:"enabled"`
	Expires Duration `toml:"expires"` // 0: never
}

// Timeouts bound what may hang.
type Timeouts struct {
	Connect   Duration `toml:"connect"`
	FirstByte Duration `toml:"first_byte"`
	Stall     Duration `toml:"stall"`
	Tool      Duration `toml:"tool"`
	Shutdown  Duration `toml:"shutdown"` // 0: running steps are cut at once
}

// Compaction says when a history is summed up.
type Compaction struct {
	Budget int `toml:"budget"` // prompt tokens; 0: only on demand or overflow
}

// Tools bounds what tools can reach.
type Tools struct {
	Workspace   []string `toml:"workspace"` // folders
	Sandbox     string   `toml:"sandbox"`   // auto | landlock | none
	Network     bool     `toml:"network"`
	Env         []string `toml:"env"`
	Web         []string `toml:"web"`          // domains
	ResultLimit int      `toml:"result_limit"` // bytes

	// SandboxWritten tells a sandbox = "none" that somebody wrote from one that the
	// kernel left: only the former lets Bash run without asking.
	SandboxWritten bool `toml:"-"`
}

// Secrets names what is masked in the log.
type Secrets struct {
	Patterns []string `toml:"patterns"` // regular expressions
}

// MCP is a server of tools: a command to start, or an address.
type MCP struct {
	Command  []string          `toml:"command"`
	Env      map[string]string `toml:"env"`
	URL      string            `toml:"url"`
	Bearer   Secret            `toml:"bearer"`
	Approval string            `toml:"approval"` // never | policy | always
	Timeout  Duration          `toml:"timeout"`
}

// Wires that a provider can speak.
const (
	APIOpenAI    = "openai" // chat completions
	APIAnthropic = "anthropic"
)

// DefaultAgent is the name of the definition that every other one falls back on.
const DefaultAgent = "default"

// DemoProvider is built in; its models need no key and no network.
const DemoProvider = "demo"

// Default returns the configuration of an empty file.
func Default() *Config {
	return &Config{
		Listen:               "127.0.0.1:7420",
		Database:             "hitchpost.db",
		Heartbeat:            seconds(20),
		ReplayLimit:          10000,
		MaxConcurrentReplays: 4,
		QueueLimit:           256,
		MaxAgents:            10000,
		MaxSteps:             25,
		Durability:           "full",
		Resume:               "stimulus",
		AllowedOrigins:       []string{},
		TrustedProxies:       []string{},
		Log:                  "text",
		Tokens:               []Token{},
		Agents: map[string]Agent{DefaultAgent: {
			System: "You are a careful assistant.",
			Policy: []string{"Read", "Glob", "Grep"}, // the tools that change nothing
			Models: map[string]string{"main": "demo/guide"},
		}},
		Providers: map[string]Provider{},
		Approvals: Approvals{Enabled: true},
		Timeouts: Timeouts{
			Connect:   seconds(10),
			FirstByte: seconds(60),
			Stall:     seconds(120),
			Tool:      seconds(600),
			Shutdown:  seconds(10),
		},
		Tools: Tools{
			Workspace:   []string{"."},
			Sandbox:     "auto",
			Env:         []string{"PATH", "HOME", "LANG", "TERM"},
			Web:         []string{},
			ResultLimit: 262144,
		},
		Secrets: Secrets{Patterns: []string{}},
		MCP:     map[string]MCP{},
	}
}

// defaultEntry is what an entry of a table of tables or a list of tables starts as.
func defaultEntry(table string) any {
	switch table {
	case "tokens":
		return Token{Owner: "me"}
	case "providers":
		return Provider{Retries: 4}
	case "mcp":
		return MCP{Approval: "policy", Timeout: seconds(30)}
	}
	return nil
}

// ZeroConfig is the configuration of a server that was given none: everything the
// demo model can show, with a person asked before anything is changed.
func ZeroConfig() *Config {
	c := Default()
	agent := c.Agents[DefaultAgent]
	agent.Policy = []string{"*"}
	c.Agents[DefaultAgent] = agent
	return c
}
