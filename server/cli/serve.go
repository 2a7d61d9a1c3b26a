package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os/signal"

	"hitchpost/server"
	"hitchpost/server/auth"
	"hitchpost/server/config"
)

// Keys of log attributes.
const (
	keyFile = "file"
	keyKeys = "keys"
	keyErr  = "err"
)

type serveCommand struct{}

// Run serves until SIGINT or SIGTERM, which drain; a second one ends the process.
func (*serveCommand) Run(ctx context.Context, p *Program, c *commands) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	secret, tokens, err := tokensOf(cfg)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, stopSignals...)
	defer stop()
	context.AfterFunc(ctx, stop)
	log := p.logger(cfg)
	reloads := make(chan server.Reload)
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&reloader{log: log, cfg: cfg, load: c.load, out: reloads}).run(ctx)
	}()
	err = server.Run(ctx, server.Options{
		Config: cfg, Tokens: tokens, Log: log, Reloads: reloads,
		Ready: func(url string) {
			if secret != (config.Secret{}) {
				// A fragment is not sent by browsers and so is in no log of a proxy.
				fmt.Fprintf(p.Stdout, "%s/#token=%s\n", url, secret.Reveal())
			}
		},
	})
	stop()
	<-done
	return err
}

// tokensOf gives the tokens in force. The secret is that of a generated one, else zero.
func tokensOf(cfg *config.Config) (config.Secret, []*auth.Token, error) {
	if tokens := cfg.AuthTokens(); len(tokens) > 0 {
		return config.Secret{}, tokens, nil
	}
	secret, token, err := cfg.GeneratedToken()
	return secret, []*auth.Token{token}, err
}

// logger writes to stderr as the configuration says, without its secrets. Those that
// a reload brings are masked from the next start on.
func (p *Program) logger(cfg *config.Config) *slog.Logger {
	options := &slog.HandlerOptions{ReplaceAttr: server.Masks(cfg).Attr}
	if cfg.Log == "json" {
		return slog.New(slog.NewJSONHandler(p.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(p.Stderr, options))
}

// reloader reads the configuration again at each reload signal.
type reloader struct {
	log  *slog.Logger
	cfg  *config.Config // in force
	load func() (*config.Config, error)
	out  chan<- server.Reload
}

func (r *reloader) run(ctx context.Context) {
	signals, stop := reloadSignals()
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			if next, ok := r.reload(); ok {
				select {
				case r.out <- next:
				case <-ctx.Done():
					return
				}
			}
		}
	}
}

// reload reads the configuration and says what becomes of it.
func (r *reloader) reload() (server.Reload, bool) {
	next, err := r.load()
	if err == nil && next.File == "" && r.cfg.File != "" {
		err = fmt.Errorf("there is no %s any more", r.cfg.File)
	}
	if err != nil {
		r.log.Error("configuration not reloaded, the old one stays", keyErr, err)
		return server.Reload{}, false
	}
	keys := config.Pin(r.cfg, next) // first: the generated token is kept beside the database in use
	_, tokens, err := tokensOf(next)
	if err != nil {
		r.log.Error("configuration not reloaded, the old one stays", keyErr, err)
		return server.Reload{}, false
	}
	r.cfg = next
	r.log.Info("configuration reloaded", keyFile, next.File)
	if len(keys) > 0 {
		r.log.Warn("some keys take effect when the server starts again", keyKeys, keys)
	}
	return server.Reload{Config: next, Tokens: tokens}, true
}
