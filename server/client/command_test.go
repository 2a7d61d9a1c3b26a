package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
)

func TestAnInjectThatMayBeLostIsSentAgainByItsId(t *testing.T) {
	inject := func(text, id string) string {
		return fmt.Sprintf(`{"type":"inject","text":%q,"wake":true,"id":%q}`, text, id)
	}
	s := newServer(t, func(p *peer) {
		p.hello(0, "L")
		p.want(subscribeFrom(0))
		p.want(inject("one", "a"))
		p.want(inject("two", "b"))
		p.want(inject("three", "c"))
		p.events(0, 0)
		p.message(1, "user/message", "a")
		p.message(2, "context/injected", "c")
		p.conn.CloseNow()
	}, func(p *peer) {
		p.hello(2, "L")
		p.want(inject("two", "b"))
		p.want(subscribeFrom(3))
		p.message(3, "context/injected", "b")
		p.conn.CloseNow()
	}, func(p *peer) {
		p.hello(3, "L")
		p.want(subscribeFrom(4))
		p.want(`{"type":"cancel"}`) // and no inject before it
		p.events(4, 4)
		p.stay()
	})
	a := dial(t, s, quick)
	a.Subscribe(0)
	for _, in := range [][2]string{{"one", "a"}, {"two", "b"}, {"three", "c"}} {
		if id, err := a.Inject(in[0], true, in[1]); err != nil || id != in[1] {
			t.Fatalf("Inject = %q, %v", id, err)
		}
	}
	if seqs, _ := until(t, a, 3); !cmp.Equal(seqs, through(0, 3)) {
		t.Errorf("seqs %v", seqs)
	}
	if got := a.Unseen(); got != nil {
		t.Errorf("unseen %v after every event was seen", got)
	}
	for {
		if _, ok := next(t, a).(Connected); ok {
			break
		}
	}
	if err := a.Cancel(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	until(t, a, 4)
}

func TestAnInjectThatWasRefusedCanBeForgotten(t *testing.T) {
	s := newServer(t, func(p *peer) {
		p.hello(0, "L")
		p.want(`{"type":"inject","text":"x","wake":false,"id":"a"}`)
		p.error("bad_frame", "the inbox is full")
		p.stay()
	})
	a := dial(t, s, quick)
	if _, err := a.Inject("x", false, "a"); err != nil {
		t.Fatal(err)
	}
	next(t, a)
	if r, ok := next(t, a).(Refused); !ok || r.Code != CodeBadFrame || r.Message != "the inbox is full" {
		t.Errorf("message %#v, want Refused", r)
	}
	a.Forget("a")
	if got := a.Unseen(); got != nil {
		t.Errorf("unseen %v", got)
	}
}

func TestInjectsBeyondTheirBoundsAreRefusedHere(t *testing.T) {
	s := newServer(t, func(p *peer) { p.hello(0, "L"); p.stay() })
	a := dial(t, s, quick)
	if _, err := a.Inject(strings.Repeat("x", maxClientFrame), true, ""); err == nil {
		t.Error("a text of 1 MiB and a frame around it was accepted")
	}
	for range maxUnseen {
		if _, err := a.Inject("x", true, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Inject("x", true, ""); err == nil {
		t.Error("one text more than the bound was accepted")
	}
}

func TestEveryCommandIsTheFrameOfTheProtocol(t *testing.T) {
	s := newServer(t, func(p *peer) {
		p.hello(0, "L")
		p.want(`{"type":"cancel"}`)
		p.want(`{"type":"cancel","reason":"lunch"}`)
		p.want(`{"type":"approve","call_id":"c1"}`)
		p.want(`{"type":"deny","call_id":"c2"}`)
		p.want(`{"type":"deny","call_id":"c3","reason":"no"}`)
		p.want(`{"type":"set_model","role":"main","model":"x/y/z"}`)
		p.want(`{"type":"set_policy","patterns":[]}`)
		p.want(`{"type":"set_policy","patterns":["Read"]}`)
		for _, code := range []string{"not_running", "stale_call", "unsupported", "bad_frame"} {
			p.error(code, "no")
		}
		p.stay()
	})
	a := dial(t, s, quick)
	ctx := t.Context()
	for i, err := range []error{
		a.Cancel(ctx, ""), a.Cancel(ctx, "lunch"), a.Approve(ctx, "c1"), a.Deny(ctx, "c2", ""), a.Deny(ctx, "c3", "no"),
		a.SetModel(ctx, "main", "x/y/z"), a.SetPolicy(ctx, nil), a.SetPolicy(ctx, []string{"Read"}),
	} {
		if err != nil {
			t.Errorf("command %d: %v", i, err)
		}
	}
	next(t, a)
	for _, code := range []string{"not_running", "stale_call", "unsupported", "bad_frame"} {
		if r, ok := next(t, a).(Refused); !ok || r.Code != code {
			t.Errorf("message %#v, want Refused with %s", r, code)
		}
	}
}

func TestACommandWaitsForTheNextConnection(t *testing.T) {
	again := make(chan struct{})
	s := newServer(t, func(p *peer) {
		p.hello(0, "L")
		p.close(websocket.StatusGoingAway)
	}, func(p *peer) {
		<-again
		p.hello(0, "L")
		p.want(`{"type":"approve","call_id":"c"}`)
		p.stay()
	})
	a := dial(t, s, quick)
	next(t, a)
	if _, ok := next(t, a).(Lost); !ok {
		t.Fatal("the connection was not lost")
	}
	short, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("given up"))
	if err := a.Approve(short, "x"); err == nil || err.Error() != "given up" {
		t.Errorf("Approve without a connection = %v, want the context's cause", err)
	}
	sent := make(chan error)
	go func() { sent <- a.Approve(t.Context(), "c") }()
	close(again)
	next(t, a)
	if err := <-sent; err != nil {
		t.Error(err)
	}
}
