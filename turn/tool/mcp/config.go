package mcp

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"time"

	"hitchpost/turn/tool"
)

const (
	defaultTimeout = 30 * time.Second // of a call, where the configuration has none
	stopGrace      = 2 * time.Second  // a server may take to end when told to; half of it before SIGTERM
	cancelGrace    = time.Second      // a cancelled call may take to leave the connection
	headerWait     = 10 * time.Second // until a server says whether it has a stream of notifications
	relistPause    = 100 * time.Millisecond
	steady         = 10 * time.Second // a connection that lived this long starts the pauses anew
	minPause       = 250 * time.Millisecond
	maxPause       = time.Minute

	maxMessage     = 16 << 20 // bytes of one message from a server
	maxRequest     = 64 << 10 // bytes of a server's own request or notification; a larger one is dropped
	requestBurst   = 1000     // requests of a server to us at once
	requestRate    = 100      // and a second, on average; above, the connection is given up
	maxErrorBody   = 64 << 10 // bytes read of an HTTP error's body
	maxTools       = 512      // of one server
	maxPages       = 64       // of one listing
	maxName        = 128      // bytes of a tool's full name
	maxDescription = 16 << 10 // bytes of a tool's description
	maxSchema      = 64 << 10 // bytes of a tool's schema
	maxRoster      = 2 << 20  // bytes of descriptions and schemas of one server
	maxProgress    = 4 << 10  // bytes of one progress text
	maxLogged      = 1 << 10  // bytes of a line of a server's own output that are logged
	logBurst       = 50       // such lines at once
	logRate        = 5        // and a second, on average
	minSecret      = 8        // characters of a configured value that is masked in texts
)

// ServerConfig says how one server is reached: by Command or by URL.
type ServerConfig struct {
	Name     string            // [a-z0-9_-]+, part of its tools' names
	Command  []string          // program and arguments of a server on stdin and stdout
	Env      map[string]string // added to the environment of Command
	URL      string            // http or https address of a streamable HTTP server
	Bearer   string            // token sent to URL, "" = none
	Approval tool.Approval     // of all its tools; "" = policy
	Timeout  time.Duration     // of a call; 0 = 30 s. A start may take four times as long
}

// Options are common to all servers.
type Options struct {
	Log      *slog.Logger // nil = slog.Default
	BaseEnv  []string     // names of the variables that commands inherit
	OnChange func()       // the roster has changed; it must not block for long nor call Close
}

var serverName = regexp.MustCompile(`^[a-z0-9_-]+$`)

// Check tells everything that is wrong with a server's configuration.
func (c ServerConfig) Check() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("mcp server %q: "+format, append([]any{c.Name}, args...)...))
	}
	if !serverName.MatchString(c.Name) {
		fault("a name is made of a-z, 0-9, _ and -")
	}
	switch {
	case (len(c.Command) > 0) == (c.URL != ""):
		fault("it needs a command or a url, and not both")
	case c.URL != "":
		if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			fault("its url is no http or https address")
		}
		if len(c.Env) > 0 {
			fault("env is for a command, it has a url")
		}
	case c.Command[0] == "":
		fault("its command has no program")
	case c.Bearer != "":
		fault("bearer is for a url, it has a command")
	}
	switch c.Approval {
	case "", tool.Never, tool.ByPolicy, tool.Always:
	default:
		fault("approval %q is none of never, policy, always", c.Approval)
	}
	if c.Timeout < 0 {
		fault("its timeout is negative")
	}
	return errors.Join(faults...)
}
