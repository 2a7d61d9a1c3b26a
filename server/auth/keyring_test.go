package auth

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

func token(name, secret string, agents []string, allow Verbs) *Token {
	return NewToken(name, "me", DigestOf(secret), agents, allow)
}

func TestATokenOpensWhatItListsAndNothingElse(t *testing.T) {
	k := NewKeyring([]*Token{
		token("all", "s3cret-all", nil, All),
		token("ops", "s3cret-ops", []string{"main", "ops-*"}, All),
		token("none", "s3cret-none", []string{}, All),
	})
	for _, c := range []struct {
		secret, session, want string // want: name of the token, "" for refused
	}{
		{"s3cret-all", "anything", "all"},
		{"s3cret-ops", "main", "ops"},
		{"s3cret-ops", "ops-7", "ops"},
		{"s3cret-ops", "mainly", ""},
		{"s3cret-ops", "dev", ""},
		{"s3cret-none", "main", ""},
		{"S3cret-all", "main", ""},
		{"s3cret-al", "main", ""},
		{"s3cret-all ", "main", ""},
		{"", "main", ""},
	} {
		got, ok := k.Open(c.secret, c.session)
		name := ""
		if ok {
			name = got.Name
		}
		if name != c.want || ok != (c.want != "") {
			t.Errorf("Open(%q, %q) = token %q, %v; want %q", c.secret, c.session, name, ok, c.want)
		}
	}
}

func TestAnEmptyRingOpensNothing(t *testing.T) {
	k := NewKeyring(nil)
	if tok, ok := k.Open("", "main"); ok || tok != nil {
		t.Errorf("Open on an empty ring = %v, %v", tok, ok)
	}
	if _, ok := k.Lookup(""); ok {
		t.Error("Lookup of nothing on an empty ring found a token")
	}
}

// guarantee 2: the work is counted, not timed.
func TestEveryTokenIsLookedAtWhateverIsPresented(t *testing.T) {
	var ring []*Token
	for i := range 5 {
		ring = append(ring, token(fmt.Sprint(i), fmt.Sprint("secret", i), nil, All))
	}
	k := NewKeyring(ring)
	for _, secret := range []string{"secret0", "secret4", "nobody's", ""} {
		looked := 0
		k.find(secret, func(*Token) bool { looked++; return true })
		if looked != len(ring) {
			t.Errorf("find(%q) looked at %d tokens of %d", secret, looked, len(ring))
		}
	}
}

// guarantee 1
func TestATokenNeverShowsItsSecret(t *testing.T) {
	tok := token("laptop", "tell-nobody", nil, All)
	shown := fmt.Sprintf("%v %+v %#v", tok, tok, NewKeyring([]*Token{tok}))
	if bytes.Contains([]byte(shown), []byte("tell-nobody")) {
		t.Errorf("a token shows its secret: %s", shown)
	}
}

func TestVerbsAreReadAndShownByTheirNames(t *testing.T) {
	var all Verbs
	for _, name := range []string{"watch", "inject", "approve", "admin"} {
		v, err := ParseVerb(name)
		if err != nil || v.String() != name {
			t.Errorf("ParseVerb(%q) = %v, %v", name, v, err)
		}
		all |= v
	}
	if all != All || all.String() != "watch,inject,approve,admin" {
		t.Errorf("all verbs = %v, want %v", all, All)
	}
	if _, err := ParseVerb("Watch"); err == nil {
		t.Error("ParseVerb(Watch) was accepted")
	}
}

func TestATokenMayOnlyWhatItIsAllowed(t *testing.T) {
	tok := token("eye", "x", nil, Watch|Approve)
	for v, want := range map[Verbs]bool{Watch: true, Approve: true, Inject: false, Admin: false, Watch | Inject: false} {
		if tok.May(v) != want {
			t.Errorf("May(%v) = %v, want %v", v, !want, want)
		}
	}
}

// guarantee 3
func TestReplaceDropsTheConnectionsItNoLongerOpens(t *testing.T) {
	ops := []string{"main", "ops-*"}
	for _, c := range []struct {
		name string
		next []*Token
		drop bool
	}{
		{"unchanged", []*Token{token("a", "one", ops, All)}, false},
		{"widened", []*Token{token("a", "one", nil, All)}, false},
		{"fewer verbs", []*Token{token("a", "one", ops, Watch)}, false},
		{"beside a new one", []*Token{token("b", "two", nil, All), token("a", "one", ops, All)}, false},
		{"removed", nil, true},
		{"rotated", []*Token{token("a", "two", ops, All)}, true},
		{"narrowed off the session", []*Token{token("a", "one", []string{"ops-*"}, All)}, true},
		{"reaching nothing", []*Token{token("a", "one", []string{}, All)}, true},
		{"another owner", []*Token{NewToken("a", "you", DigestOf("one"), ops, All)}, true},
		{"another name", []*Token{token("b", "one", ops, All)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := NewKeyring([]*Token{token("a", "one", ops, All)})
			tok, _ := k.Open("one", "main")
			drops := 0
			release, ok := k.Register(tok, "main", func() { drops++ })
			if !ok {
				t.Fatal("Register refused a token in force")
			}
			k.Replace(c.next)
			if got := drops == 1; got != c.drop || drops > 1 {
				t.Errorf("dropped %d times, want dropped = %v", drops, c.drop)
			}
			k.Replace(nil)
			if drops != 1 {
				t.Errorf("after every token went, dropped %d times, want once", drops)
			}
			release()
		})
	}
}

// guarantee 4
func TestVerbsChangeUnderALiveConnection(t *testing.T) {
	k := NewKeyring([]*Token{token("a", "one", nil, All)})
	tok, _ := k.Open("one", "main")
	if _, ok := k.Register(tok, "main", func() { t.Error("dropped") }); !ok {
		t.Fatal("Register refused a token in force")
	}
	k.Replace([]*Token{token("a", "one", nil, Watch)})
	if tok.May(Inject) || !tok.May(Watch) {
		t.Error("after the verbs were narrowed to watch, the connection's token still has the old ones")
	}
	k.Replace([]*Token{token("a", "one", nil, All)})
	if !tok.May(Admin) {
		t.Error("a verb given back is missing")
	}
}

// guarantee 5
func TestATokenTakenAwayBetweenLookupAndRegisterIsRefused(t *testing.T) {
	k := NewKeyring([]*Token{token("a", "one", nil, All)})
	tok, _ := k.Open("one", "main")
	k.Replace([]*Token{token("a", "two", nil, All)})
	if _, ok := k.Register(tok, "main", func() {}); ok {
		t.Error("a token that is gone could register a connection")
	}
}

func TestAReleasedConnectionIsNotDropped(t *testing.T) {
	k := NewKeyring([]*Token{token("a", "one", nil, All)})
	tok, _ := k.Open("one", "main")
	release, _ := k.Register(tok, "main", func() { t.Error("dropped after its release") })
	release()
	release() // harmless
	k.Replace(nil)
}

func TestConnectionsAndReplacesRaceWithoutALeak(t *testing.T) {
	k := NewKeyring([]*Token{token("a", "one", nil, All)})
	var open, dropped atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if tok, ok := k.Open("one", "main"); ok {
					if _, ok := k.Register(tok, "main", func() { dropped.Add(1) }); ok {
						open.Add(1)
					}
				}
			}
		})
	}
	wg.Go(func() {
		for range 100 {
			k.Replace(nil)
			k.Replace([]*Token{token("a", "one", nil, All)})
		}
	})
	wg.Wait()
	k.Replace(nil)
	if open.Load() != dropped.Load() || len(k.live) != 0 {
		t.Errorf("%d connections opened, %d dropped, %d left", open.Load(), dropped.Load(), len(k.live))
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1, 100} {
		var ring []*Token
		for i := range n {
			ring = append(ring, token(fmt.Sprint(i), fmt.Sprint("secret", i), []string{"main", "ops-*"}, All))
		}
		k := NewKeyring(ring)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				k.Open("secret0", "main")
			}
		})
	}
}

// guarantee 4
func TestAConnectionToAllSessionsEndsWhenWhatItHearsChanges(t *testing.T) {
	ops := []string{"main", "ops-*"}
	for _, c := range []struct {
		name string
		next []*Token
		drop bool
	}{
		{"unchanged", []*Token{token("a", "one", ops, All)}, false},
		{"fewer verbs", []*Token{token("a", "one", ops, Watch)}, false},
		{"no watching", []*Token{token("a", "one", ops, Inject)}, true},
		{"widened", []*Token{token("a", "one", nil, All)}, true},
		{"narrowed", []*Token{token("a", "one", []string{"main"}, All)}, true},
		{"gone", nil, true},
		{"another secret", []*Token{token("a", "two", ops, All)}, true},
	} {
		tok := token("a", "one", ops, All)
		k := NewKeyring([]*Token{tok})
		dropped := false
		release, ok := k.RegisterAll(tok, func() { dropped = true })
		if !ok {
			t.Fatal("a token in force was refused")
		}
		k.Replace(c.next)
		if dropped != c.drop {
			t.Errorf("%s: dropped = %v, want %v", c.name, dropped, c.drop)
		}
		release()
	}
}
