package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"hitchpost/server/auth"
)

func inFolder(t *testing.T) *Config {
	c := ZeroConfig()
	c.Database = filepath.Join(t.TempDir(), "hitchpost.db")
	return c
}

// guarantee 5
func TestTheGeneratedTokenIsMadeOnceAndForItsOwnerAlone(t *testing.T) {
	c := inFolder(t)
	secret, tok, err := c.GeneratedToken()
	if err != nil {
		t.Fatal(err)
	}
	if len(secret.Reveal()) != 43 || tok.Owner != "me" || !tok.May(auth.All) || !tok.Reaches("anything") {
		t.Errorf("generated token: %d characters, owner %q", len(secret.Reveal()), tok.Owner)
	}
	info, err := os.Stat(filepath.Join(filepath.Dir(c.Database), TokenFile))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	again, _, err := c.GeneratedToken()
	if err != nil || again != secret {
		t.Errorf("the second start has another token (%v)", err)
	}
	found, err := c.FindToken()
	if err != nil || found != secret {
		t.Errorf("FindToken has another token (%v)", err)
	}
}

func TestServersThatStartAtOnceAgreeOnTheToken(t *testing.T) {
	c := inFolder(t)
	got := make([]Secret, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			secret, _, err := c.GeneratedToken()
			if err != nil {
				t.Error(err)
			}
			got[i] = secret
		})
	}
	wg.Wait()
	for _, s := range got {
		if s != got[0] {
			t.Fatal("two servers made different tokens")
		}
	}
	files, err := os.ReadDir(filepath.Dir(c.Database))
	if err != nil || len(files) != 1 {
		t.Errorf("%d files left, want the token alone (%v)", len(files), err)
	}
}

func TestATokenFileThatOthersCanReadIsRefused(t *testing.T) {
	if !ownsModes {
		t.Skip("no modes on this system")
	}
	c := inFolder(t)
	path := filepath.Join(filepath.Dir(c.Database), TokenFile)
	if err := os.WriteFile(path, []byte("some token text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.GeneratedToken(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("GeneratedToken = %v, want a refusal that says chmod 600", err)
	}
}

func TestACommandFindsATokenThatTheFileGivesAway(t *testing.T) {
	t.Setenv("HITCHPOST_TEST_TOKEN", "from the environment")
	hash := HashLine(NewSecret("known elsewhere"))
	c := load(t, `tokens = [{name = "h", token = "`+hash+`"}, {name = "e", token = "env:HITCHPOST_TEST_TOKEN"}]`)
	if got, err := c.FindToken(); err != nil || got.Reveal() != "from the environment" {
		t.Errorf("FindToken: %v", err)
	}
	c = load(t, `tokens = [{name = "h", token = "`+hash+`"}]`)
	if _, err := c.FindToken(); err == nil || !strings.Contains(err.Error(), "HITCHPOST_TOKEN") {
		t.Errorf("FindToken with hashes alone = %v, want what to do", err)
	}
	if _, err := inFolder(t).FindToken(); err == nil || !strings.Contains(err.Error(), "hitchpost serve") {
		t.Errorf("FindToken before the first start = %v, want what to do", err)
	}
}

func TestNewTokensDiffer(t *testing.T) {
	if one, other := NewToken(), NewToken(); one == other {
		t.Error("two tokens are the same")
	}
}
