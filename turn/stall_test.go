package turn

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
	"hitchpost/turn/model/openai"
)

// TestAProviderThatOnlyKeepsItsConnectionAliveIsCutOffAndCanBeCancelled: comments are no
// progress. Half of the rounds are cancelled meanwhile; TestMain looks that no round
// leaves a goroutine behind.
func TestAProviderThatOnlyKeepsItsConnectionAliveIsCutOffAndCanBeCancelled(t *testing.T) {
	gone := make(chan struct{})
	asked := make(chan struct{})
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { gone <- struct{}{} }()
		_, _ = io.Copy(io.Discard, r.Body) // before it is read, nobody looks whether the other side is there
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n")
		for first := true; r.Context().Err() == nil; first = false {
			fmt.Fprint(w, ": still here\n\n")
			w.(http.Flusher).Flush()
			if first {
				asked <- struct{}{}
			}
			time.Sleep(time.Millisecond)
		}
	}))
	defer provider.Close()
	w := newWorld(t)
	client := func(stall time.Duration) model.Client {
		return openai.New(httpstream.Config{BaseURL: provider.URL, Timeouts: model.Timeouts{Connect: time.Minute, FirstByte: time.Minute, Stall: stall}})
	}
	for round := range rounds(t, 50) {
		cancels := round%2 == 0
		stall, want := 20*time.Millisecond, event.Failed
		if cancels {
			stall, want = time.Hour, event.Cancelled
		}
		w.cfg.Providers = map[string]model.Client{"demo": client(stall)}
		w.host.Reload(w.cfg)
		w.play("wake go")
		<-asked
		if cancels {
			w.must(w.agent.Cancel(context.Background(), nil))
		}
		<-gone
		w.idle()
		end, _, err := w.agent.Log().Newest(context.Background(), -1, string(event.TurnEndType))
		w.must(err)
		var how event.TurnEnd
		mustUnmarshal(t, end.Payload, &how)
		if how.Status != want {
			t.Fatalf("round %d ended %s, want %s", round, end.Payload, want)
		}
	}
	checkInvariants(t, w.log())
}
