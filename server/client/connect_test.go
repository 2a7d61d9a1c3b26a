package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
)

func TestAfterAFinalAnswerNothingIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*peer)
		want error
	}{
		{"superseded", func(p *peer) { p.error("superseded", "x"); p.close(websocket.StatusPolicyViolation) }, ErrSuperseded},
		{"unauthorized", func(p *peer) { p.error("unauthorized", "x"); p.close(websocket.StatusPolicyViolation) }, ErrUnauthorized},
		{"close without a frame", func(p *peer) { p.close(websocket.StatusPolicyViolation) }, nil},
		{"a skipped event", func(p *peer) { p.events(4, 4); p.stay() }, ErrGap},
		{"a binary frame", func(p *peer) {
			p.conn.Write(context.Background(), websocket.MessageBinary, []byte("{}"))
			p.stay()
		}, ErrProtocol},
		{"no JSON", func(p *peer) { p.send("hello"); p.stay() }, ErrProtocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, func(p *peer) { // one script: a second connection fails the test
				p.hello(2, "L")
				p.want(subscribeFrom(0))
				p.events(0, 2)
				c.end(p)
			})
			a := dial(t, s, quick)
			a.Subscribe(0)
			seqs, err := ending(t, a)
			if diff := cmp.Diff(through(0, 2), seqs); diff != "" {
				t.Error(diff)
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("ended with %v, want %v", err, c.want)
			}
			if _, again := a.Next(t.Context()); again == nil || again.Error() != err.Error() {
				t.Errorf("Next after the end = %v, want %v again", again, err)
			}
			if _, err := a.Inject("x", true, ""); err == nil {
				t.Error("Inject after the end was accepted")
			}
			if err := a.Cancel(t.Context(), ""); err == nil {
				t.Error("Cancel after the end was accepted")
			}
		})
	}
}

func TestDialSaysWhyThereIsNoConnection(t *testing.T) {
	for _, c := range []struct {
		name   string
		script func(*peer)
		is     error
		say    string
	}{
		{"unauthorized", func(p *peer) { p.error("unauthorized", "no"); p.close(websocket.StatusPolicyViolation) }, ErrUnauthorized, "token"},
		{"full", func(p *peer) {
			p.error("internal", "10000 agents are in memory")
			p.close(websocket.StatusInternalError)
		}, nil, "10000 agents"},
		{"another protocol", func(p *peer) { p.send(`{"type":"welcome"}`) }, ErrProtocol, "welcome"},
		{"another version", func(p *peer) { p.send(`{"type":"hello","proto":2}`) }, ErrProtocol, "newer client"},
		{"gone", func(p *peer) { p.conn.CloseNow() }, nil, "lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, c.script)
			_, err := Dial(t.Context(), s.URL, "s3cret", "main", quick)
			if err == nil || !strings.Contains(err.Error(), c.say) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("Dial = %v, want %v that says %q", err, c.is, c.say)
			}
			if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") {
				t.Errorf("Dial = %q", err)
			}
		})
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "the Host is not ours\nmore", http.StatusForbidden)
	}))
	defer refusing.Close()
	if _, err := Dial(t.Context(), refusing.URL, "t", "main", quick); err == nil || !strings.Contains(err.Error(), "403 Forbidden: the Host is not ours") {
		t.Errorf("Dial = %v, want the answer's status and first line", err)
	}
	url := refusing.URL
	refusing.Close()
	if _, err := Dial(t.Context(), url, "t", "main", quick); err == nil || !strings.Contains(err.Error(), "cannot reach the server") {
		t.Errorf("Dial of nobody = %v", err)
	}
	for _, bad := range [][2]string{{"localhost:7420", "main"}, {"ftp://x", "main"}, {"http://x", ".."}, {"http://x", "a/b"}, {"http://x", ""}} {
		if _, err := Dial(t.Context(), bad[0], "t", bad[1], quick); err == nil || !strings.Contains(err.Error(), "is no") {
			t.Errorf("Dial(%q, %q) = %v", bad[0], bad[1], err)
		}
	}
}

func TestTheAddressOfAPageIsAnAddressOfTheServer(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:7420":           "http://127.0.0.1:7420/agents/main/ws",
		"http://127.0.0.1:7420/#token=ab": "http://127.0.0.1:7420/agents/main/ws",
		"wss://x.example/under/":          "wss://x.example/under/agents/main/ws",
	} {
		if got, err := socketURL(in, "main"); err != nil || got != want {
			t.Errorf("socketURL(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestTheWaitsDoubleAndStartOverOnlyAtHello(t *testing.T) {
	refuse := func(p *peer) { p.error("internal", "full"); p.close(websocket.StatusInternalError) }
	greet := func(p *peer) { p.hello(0, "L"); p.close(websocket.StatusGoingAway) }
	s := newServer(t, greet, refuse, refuse, refuse, refuse, greet, func(p *peer) { p.hello(0, "L"); p.stay() })
	a := dial(t, s, Options{MinWait: 2 * time.Millisecond, MaxWait: 8 * time.Millisecond})
	checkWaits(t, a, 2, 4, 8, 8, 8, 2)
}

// checkWaits compares the next waits with the most that they may be, in milliseconds.
func checkWaits(t *testing.T, a *Agent, most ...time.Duration) {
	t.Helper()
	for i := 0; i < len(most); {
		lost, ok := next(t, a).(Lost)
		if !ok {
			continue
		}
		if m := most[i] * time.Millisecond; lost.Wait < m/2 || lost.Wait > m {
			t.Errorf("wait %d = %s, want between %s and %s", i, lost.Wait, m/2, m)
		}
		i++
	}
}

// A server with a full disk greets, takes the inject, fails and closes; sent again at
// once it would fail as fast, and each time write a line into its log.
func TestTheWaitsGoOnDoublingWhileTheServerFailsBehindItsHello(t *testing.T) {
	fail := func(p *peer) {
		p.hello(0, "L")
		p.error("internal", "the disk is full")
		p.close(websocket.StatusInternalError)
	}
	leave := func(p *peer) { p.hello(0, "L"); p.close(websocket.StatusGoingAway) }
	s := newServer(t, fail, fail, fail, leave, func(p *peer) { p.hello(0, "L"); p.stay() })
	a := dial(t, s, Options{MinWait: 2 * time.Millisecond, MaxWait: 8 * time.Millisecond})
	checkWaits(t, a, 2, 4, 8, 2)
}

func TestCloseEndsEverythingWhateverItIsDoing(t *testing.T) {
	for name, script := range map[string]func(*peer){
		"idle":              func(p *peer) { p.hello(0, "L"); p.stay() },
		"mid-stream":        func(p *peer) { p.hello(9, "L"); p.want(subscribeFrom(0)); p.events(0, 9); p.stay() },
		"silent to a close": func(p *peer) { p.hello(0, "L"); <-p.t.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			a := dial(t, newServer(t, script), quick)
			a.Subscribe(0)
			next(t, a)
			a.Close()
			a.Close()
			if _, err := a.Next(t.Context()); !errors.Is(err, ErrClosed) {
				t.Errorf("Next after Close = %v, want ErrClosed", err)
			}
		})
	}
	t.Run("waiting", func(t *testing.T) {
		s := newServer(t, func(p *peer) { p.hello(0, "L"); p.close(websocket.StatusGoingAway) })
		a := dial(t, s, Options{MinWait: time.Hour, MaxWait: time.Hour})
		next(t, a)
		next(t, a) // Lost
		a.Close()
	})
}
