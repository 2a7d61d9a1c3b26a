package client

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
)

func TestHelloCarriesTheMembersOfTheSubprotocol(t *testing.T) {
	s := newServer(t, func(p *peer) {
		p.send(`{"type":"hello","proto":1,"session_id":"main","last_seq":41,"first_seq":2,"log_id":"L","status":"waiting_approval","pending":[{"call_id":"c","name":"Bash","args":{"a":1}}],"replay_limit":7}`)
		p.stay()
	})
	a := dial(t, s, quick)
	want := Hello{Proto: 1, SessionID: "main", LastSeq: 41, FirstSeq: 2, LogID: "L", Status: "waiting_approval",
		Pending: []Pending{{"c", "Bash", []byte(`{"a":1}`)}}, ReplayLimit: 7}
	if diff := cmp.Diff(want, a.Hello()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Message(Connected{want}), next(t, a)); diff != "" {
		t.Error(diff)
	}
}

func TestAServerOfTheSeedIsGoodEnough(t *testing.T) {
	s := newServer(t, func(p *peer) {
		p.send(`{"type":"hello","proto":1,"session_id":"main","last_seq":1}`)
		p.want(subscribeFrom(0))
		p.events(0, 1)
		p.conn.CloseNow()
	}, func(p *peer) {
		p.send(`{"type":"hello","proto":1,"session_id":"main","last_seq":2}`)
		p.want(subscribeFrom(2))
		p.events(2, 2)
		p.stay()
	})
	a := dial(t, s, quick)
	a.Subscribe(0)
	if seqs, _ := until(t, a, 2); !cmp.Equal(seqs, through(0, 2)) {
		t.Errorf("seqs %v", seqs)
	}
}

func TestAnEventKeepsItsFrame(t *testing.T) {
	s := newServer(t, func(p *peer) {
		p.hello(7, "L")
		p.want(subscribeFrom(7))
		p.events(7, 7)
		p.stay()
	})
	a := dial(t, s, quick)
	a.Subscribe(7)
	next(t, a) // Connected
	e := next(t, a).(Event)
	want := Event{ID: "0000000000000007", SessionID: "main", Seq: 7, At: time.Date(2026, 8, 18, 4, 10, 11, 123456000, time.UTC),
		Type: "assistant/chunk", Payload: []byte(`{"text":"<7>"}`), Line: []byte(line(7))}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
}

// guarantees 1 and 3

func TestEveryWayToLoseAConnectionLeavesNeitherGapNorDuplicate(t *testing.T) {
	ends := []func(*peer){
		func(p *peer) { p.conn.CloseNow() },
		func(p *peer) { p.error("lagged", "too slow"); p.close(websocket.StatusTryAgainLater) },
		func(p *peer) { p.error("internal", "disk full"); p.close(websocket.StatusInternalError) },
		func(p *peer) { p.close(websocket.StatusGoingAway) },
		func(p *peer) { p.close(websocket.StatusNormalClosure) },
	}
	var scripts []func(*peer)
	for i, end := range ends {
		scripts = append(scripts, func(p *peer) {
			p.hello(10*i+9, "L")
			p.want(subscribeFrom(10 * i))
			p.events(10*i, 10*i+9)
			end(p)
		})
	}
	last := 10 * len(ends)
	scripts = append(scripts, func(p *peer) {
		p.hello(last, "L")
		p.want(subscribeFrom(last))
		p.events(last, last)
		p.stay()
	})
	a := dial(t, newServer(t, scripts...), quick)
	a.Subscribe(0)
	seqs, cuts := until(t, a, int64(last))
	if diff := cmp.Diff(through(0, int64(last)), seqs); diff != "" || cuts != nil {
		t.Errorf("%s, truncations %v", diff, cuts)
	}
}

func TestALostConnectionIsToldWithItsCause(t *testing.T) {
	s := newServer(t, func(p *peer) {
		p.hello(0, "L")
		p.error("lagged", "too slow")
		p.close(websocket.StatusTryAgainLater)
	}, func(p *peer) { p.hello(3, "L"); p.stay() })
	a := dial(t, s, quick)
	next(t, a)
	lost, ok := next(t, a).(Lost)
	var said *ServerError
	if !ok || !errors.As(lost.Cause, &said) || said.Code != CodeLagged || lost.Wait <= 0 {
		t.Errorf("message %#v, want Lost by lagged", lost)
	}
	if c, ok := next(t, a).(Connected); !ok || c.Hello.LastSeq != 3 {
		t.Errorf("message %#v, want the new hello", c)
	}
}

// guarantee 4

// guarantee 5

func TestACursorIsNotUsedOnAnotherLog(t *testing.T) {
	first := func(p *peer) {
		p.hello(2, "L")
		p.want(subscribeFrom(0))
		p.events(0, 2)
		p.close(websocket.StatusGoingAway)
	}
	for name, second := range map[string]func(*peer){
		"new log_id":           func(p *peer) { p.hello(9, "M") },
		"ends before the read": func(p *peer) { p.hello(1, "L") },
	} {
		t.Run(name, func(t *testing.T) {
			a := dial(t, newServer(t, first, second), quick)
			a.Subscribe(0)
			if _, err := ending(t, a); !errors.Is(err, ErrAnotherLog) {
				t.Errorf("ended with %v, want ErrAnotherLog", err)
			}
		})
	}
	t.Run("stored cursor", func(t *testing.T) {
		s := newServer(t, func(p *peer) { p.hello(9, "M") })
		if _, err := Dial(t.Context(), s.URL, "s3cret", "main", Options{LogID: "L"}); !errors.Is(err, ErrAnotherLog) {
			t.Errorf("Dial = %v, want ErrAnotherLog", err)
		}
	})
}

func TestATruncatedReplayIsSaidBeforeItsFirstEvent(t *testing.T) {
	s := newServer(t, func(p *peer) {
		p.hello(20, "L")
		p.want(subscribeFrom(0))
		p.send(`{"type":"replay_truncated","requested_from_seq":0,"from_seq":18}`)
		p.events(18, 20)
		p.conn.CloseNow()
	}, func(p *peer) {
		p.hello(90, "L")
		p.want(subscribeFrom(21))
		p.send(`{"type":"replay_truncated","requested_from_seq":21,"from_seq":89}`)
		p.events(89, 90)
		p.stay()
	})
	a := dial(t, s, quick)
	a.Subscribe(0)
	var got []any
	for len(got) < 7 {
		switch m := next(t, a).(type) {
		case Event:
			got = append(got, m.Seq)
		case Truncated:
			got = append(got, m)
		}
	}
	want := []any{Truncated{0, 18}, int64(18), int64(19), int64(20), Truncated{21, 89}, int64(89), int64(90)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// guarantee 2, with the left-overs of the old subscription on the wire

func TestANewSubscriptionDiscardsWhatTheOldOneLeft(t *testing.T) {
	for _, c := range []struct {
		name string
		from int
		wire func(*peer) // after the second subscribe arrived; old events up to 12 are under way
		want []int64
	}{
		{"back", 5, func(p *peer) { p.events(11, 12); p.events(5, 14) }, through(5, 14)},
		{"to the very next", 11, func(p *peer) { p.events(11, 12); p.events(11, 14) }, through(11, 14)},
		{"ahead, over left-overs", 12, func(p *peer) { p.events(11, 12); p.events(12, 14) }, through(12, 14)},
		{"past the tip", 14, func(p *peer) { p.events(11, 12); p.events(14, 14) }, through(14, 14)},
		{"truncated", 0, func(p *peer) {
			p.events(11, 12)
			p.send(`{"type":"replay_truncated","requested_from_seq":0,"from_seq":10}`)
			p.events(10, 14)
		}, through(10, 14)},
		{"truncation of the old one", 5, func(p *peer) {
			p.send(`{"type":"replay_truncated","requested_from_seq":8,"from_seq":9}`)
			p.events(9, 12)
			p.events(5, 14)
		}, through(5, 14)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, func(p *peer) {
				p.hello(12, "L")
				p.want(subscribeFrom(8))
				p.events(8, 10)
				p.want(subscribeFrom(c.from))
				c.wire(p)
				p.stay()
			})
			a := dial(t, s, quick)
			a.Subscribe(8)
			if seqs, _ := until(t, a, 10); !cmp.Equal(seqs, through(8, 10)) {
				t.Errorf("first subscription: %v", seqs)
			}
			a.Subscribe(int64(c.from))
			if seqs, _ := until(t, a, 14); !cmp.Equal(seqs, c.want) {
				t.Errorf("second subscription: %v, want %v", seqs, c.want)
			}
		})
	}
}

func TestTwoSubscriptionsOfOneSeqBothTruncatedLeaveNoSilentHole(t *testing.T) {
	s := newServer(t, func(p *peer) {
		p.hello(20, "L")
		p.want(subscribeFrom(0))
		p.want(subscribeFrom(0))
		p.send(`{"type":"replay_truncated","requested_from_seq":0,"from_seq":10}`)
		p.events(10, 12)
		p.send(`{"type":"replay_truncated","requested_from_seq":0,"from_seq":15}`) // the tip went on meanwhile
		p.events(15, 16)
		p.stay()
	})
	a := dial(t, s, quick)
	a.Subscribe(0)
	a.Subscribe(0)
	seqs, cuts := until(t, a, 16)
	if diff := cmp.Diff([]int64{10, 11, 12, 15, 16}, seqs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Truncated{{0, 10}, {13, 15}}, cuts); diff != "" {
		t.Error(diff)
	}
}

// guarantee 6

func TestAFrameLargerThanTheLibrarysLimitArrives(t *testing.T) {
	big := strings.Repeat("x", 3<<20)
	s := newServer(t, func(p *peer) {
		p.hello(0, "L")
		p.want(subscribeFrom(0))
		p.send(`{"id":"a","session_id":"main","seq":0,"at":"2026-08-18T04:10:11.123456Z","type":"tool/result","payload":{"content":"` + big + `"}}`)
		p.stay()
	})
	a := dial(t, s, quick)
	a.Subscribe(0)
	next(t, a)
	if e, ok := next(t, a).(Event); !ok || len(e.Line) < len(big) {
		t.Error("the event did not arrive whole")
	}
}

// guarantee 3
