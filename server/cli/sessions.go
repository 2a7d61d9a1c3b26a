package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"

	"hitchpost/server/client"
	"hitchpost/server/protocol"
)

// rest makes a client of the REST surface of the server that flags, environment and
// configuration name.
func (t *target) rest(c *commands) (*client.REST, string, error) {
	address, token, err := t.resolve(c)
	if err != nil {
		return nil, "", err
	}
	r, err := client.NewREST(address, token)
	if err != nil {
		return nil, "", &usageError{err}
	}
	return r, address, nil
}

// asked makes one line of what went wrong with a request to the server at address.
func asked(address string, err error) error {
	var no *client.AnswerError
	switch {
	case errors.As(err, &no) && no.Status == http.StatusUnauthorized:
		return fmt.Errorf("%s does not accept this token; look at --token and HITCHPOST_TOKEN", address)
	case errors.As(err, new(*net.OpError)):
		return fmt.Errorf("%s: %w; is `hitchpost serve` running there?", address, err)
	case err != nil:
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}

type sessionsCommand struct {
	target
	JSON bool `name:"json" help:"Print the sessions as one JSON array."`
}

// Run lists what the token reaches, pinned sessions first, then the newest.
func (s *sessionsCommand) Run(ctx context.Context, p *Program, c *commands) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	server, address, err := s.rest(c)
	if err != nil {
		return err
	}
	sessions := []protocol.Session{}
	if err := server.Get(ctx, "sessions", &sessions); err != nil {
		return asked(address, err)
	}
	if s.JSON {
		return p.json(sessions)
	}
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SESSION\tSTATUS\tUPDATED\tEVENTS\tTITLE")
	for _, x := range sessions {
		updated, _, _ := strings.Cut(x.UpdatedAt, ".")
		fmt.Fprintf(w, "%s\t%s\t%sZ\t%d\t%s\n", x.ID, x.Status, updated, x.LastSeq+1, short(x.Title))
	}
	return w.Flush()
}

type cancelCommand struct {
	target
	Agent    string `arg:"" help:"Agent whose turn is stopped."`
	Graceful bool   `name:"graceful" help:"Let the step under way finish, its tools included."`
}

// Run stops the agent's open turn, also one that nobody runs. It exits 1 when there is none.
func (s *cancelCommand) Run(ctx context.Context, p *Program, c *commands) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	server, address, err := s.rest(c)
	if err != nil {
		return err
	}
	var session protocol.Session
	if err := server.Get(ctx, "sessions/"+url.PathEscape(s.Agent), &session); err != nil {
		return asked(address, err)
	}
	if session.LiveRunID == "" {
		return fmt.Errorf("%s has no open turn", s.Agent)
	}
	mode := protocol.ModeAbort
	if s.Graceful {
		mode = protocol.ModeGraceful
	}
	if err := server.Post(ctx, "runs/"+session.LiveRunID+"/cancel?mode="+string(mode), nil, nil); err != nil {
		return asked(address, err)
	}
	fmt.Fprintf(p.Stderr, "%s was asked to stop\n", s.Agent)
	return nil
}
