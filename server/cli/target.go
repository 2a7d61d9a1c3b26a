package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/signal"
	"strings"

	"hitchpost/server/auth"
	"hitchpost/server/client"
	"hitchpost/server/config"
)

// target says which server a command talks to.
type target struct {
	URL   string `name:"url" env:"HITCHPOST_URL" help:"Address of the server (default: as the configuration says)."`
	Token string `name:"token" env:"HITCHPOST_TOKEN" help:"Token to present (default: as the configuration says, or the one beside the database)."`
}

// dial connects to the agent as flags, environment and configuration say.
func (t *target) dial(ctx context.Context, c *commands, agent string) (*client.Agent, error) {
	address, token, err := t.resolve(c)
	if err != nil {
		return nil, err
	}
	a, err := client.Dial(ctx, address, token, agent, client.Options{})
	switch {
	case errors.Is(err, client.ErrUnauthorized):
		return nil, fmt.Errorf("%s does not accept this token for %s; look at --token, HITCHPOST_TOKEN and the token's agents", address, agent)
	case errors.As(err, new(*net.OpError)):
		return nil, fmt.Errorf("%s: %w; is `hitchpost serve` running there?", address, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return a, nil
}

func (t *target) resolve(c *commands) (address, token string, err error) {
	if t.URL != "" && t.Token != "" {
		return t.URL, t.Token, nil // no need for a configuration
	}
	cfg, err := c.load()
	if err != nil {
		return "", "", err
	}
	address, token = t.URL, t.Token
	if address == "" {
		address = cfg.URL()
	}
	if token != "" {
		return address, token, nil
	}
	if !ours(address, cfg) {
		return "", "", usagef("%s is not the server of this configuration; give --token or HITCHPOST_TOKEN for it", address)
	}
	secret, err := cfg.FindToken()
	return address, secret.Reveal(), err
}

// ours tells whether the configuration's own token may go to the address.
func ours(address string, cfg *config.Config) bool {
	to, err := url.Parse(address)
	if err != nil {
		return false
	}
	own, err := url.Parse(cfg.URL())
	return err == nil && (strings.EqualFold(to.Hostname(), own.Hostname()) || auth.Loopback(hostPort(to)))
}

func hostPort(u *url.URL) string {
	if u.Port() == "" {
		return u.Host + ":0"
	}
	return u.Host
}

// interruptible ends with SIGINT. A second one ends the process.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
