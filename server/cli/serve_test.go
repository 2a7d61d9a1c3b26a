package cli

import (
	"context"
	"os"
	"strings"
	"testing"

	"hitchpost/server"
	"hitchpost/server/auth"
	"hitchpost/server/config"
)

func TestAReloadTakesWhatCanChangeAndNamesTheRest(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(config.FileName, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`tokens = [{name = "a", token = "the first token"}]`)
	var (
		errs safeBuffer
		c    commands
		p    = Program{Stderr: &errs}
	)
	cfg, err := c.load()
	if err != nil {
		t.Fatal(err)
	}
	r := &reloader{log: p.logger(&config.Config{Log: "json"}), cfg: cfg, load: c.load}

	write("replay_limit = -1\nheartbeat = true")
	if _, ok := r.reload(); ok || r.cfg != cfg {
		t.Error("a broken file replaced the configuration")
	}
	for _, say := range []string{`"level":"ERROR"`, "the old one stays", "hitchpost.toml:1: replay_limit", "hitchpost.toml:2: heartbeat"} {
		if !strings.Contains(errs.String(), say) {
			t.Errorf("the log does not say %q: %s", say, errs.String())
		}
	}

	write("listen = \"127.0.0.1:1\"\nreplay_limit = 7\ntokens = [{name = \"a\", token = \"the second token\"}]")
	next, ok := r.reload()
	if !ok || next.Config.ReplayLimit != 7 || next.Config.Listen != cfg.Listen || r.cfg != next.Config {
		t.Errorf("reloaded %v: %+v", ok, next.Config)
	}
	ring := auth.NewKeyring(next.Tokens)
	if _, ok := ring.Lookup("the second token"); !ok {
		t.Error("the new token is not in force")
	}
	if _, ok := ring.Lookup("the first token"); ok {
		t.Error("the old token is still in force")
	}
	if !strings.Contains(errs.String(), `"keys":["listen"]`) {
		t.Errorf("the log does not name listen: %s", errs.String())
	}

	if err := os.Remove(config.FileName); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.reload(); ok {
		t.Error("a file that is gone opened the server to the zero configuration")
	}
	if strings.Contains(errs.String(), "second token") {
		t.Error("the log shows a token")
	}
}

func TestAServerWithoutTokensGetsAGeneratedOne(t *testing.T) {
	t.Chdir(t.TempDir())
	secret, tokens, err := tokensOf(config.ZeroConfig())
	if err != nil || secret.Reveal() == "" {
		t.Fatalf("tokensOf = %v", err)
	}
	if _, ok := auth.NewKeyring(tokens).Open(secret.Reveal(), "anything"); !ok {
		t.Error("the generated token does not open a session")
	}
	if _, err := os.Stat(config.TokenFile); err != nil {
		t.Error(err)
	}
}

func TestTheReloaderEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := Program{Stderr: &safeBuffer{}}
	(&reloader{log: p.logger(config.Default()), out: make(chan server.Reload)}).run(ctx) // returns
}
