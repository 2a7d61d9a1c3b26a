//go:build unix

package turn

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/history"
	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
	"hitchpost/turn/model/openai"
	"hitchpost/turn/tool"
)

const streamedChunks = 10_000

// BenchmarkStreamedTurn prints what a turn of 10,000 chunks costs beside the two things
// it cannot do without: parsing the provider's stream, and appending the chunks.
func BenchmarkStreamedTurn(b *testing.B) {
	provider := httptest.NewServer(sse(streamedChunks))
	defer provider.Close()
	client := openai.New(httpstream.Config{BaseURL: provider.URL})
	defer client.Close()

	var turn, parse, appended time.Duration
	st := openStore(b)
	host := New(st, Config{
		Agents:    map[string]Definition{DefaultAgent: {Models: map[string]string{RoleMain: "local/any"}}},
		Providers: map[string]model.Client{"local": client},
		Tools:     noTools(b), MaxSteps: 5, MaxAgents: 10, InboxTexts: 10, InboxBytes: 1 << 20,
		Log: slog.New(slog.DiscardHandler),
	})
	agent, err := host.Hold(context.Background(), "s1", "me")
	if err != nil {
		b.Fatal(err)
	}
	rival := logOf(b, st, "rival")
	var deltas []string
	b.ReportAllocs()
	for b.Loop() {
		parse += cpu(func() {
			deltas = deltas[:0]
			_, err := client.Stream(context.Background(), model.Request{Model: "any"}, func(d model.Delta) { deltas = append(deltas, d.Text) })
			if err != nil {
				b.Fatal(err)
			}
		})
		appended += cpu(func() { appendChunks(b, rival, deltas) })
		turn += cpu(func() { wholeTurn(b, agent) })
	}
	chunks := float64(b.N) * streamedChunks
	b.ReportMetric(float64(turn.Nanoseconds())/chunks, "turn-cpu-ns/chunk")
	b.ReportMetric(float64((parse+appended).Nanoseconds())/chunks, "parse+append-cpu-ns/chunk")
	b.ReportMetric(float64(turn)/float64(parse+appended), "ratio")
	agent.Release()
	if err := host.Drain(0); err != nil {
		b.Fatal(err)
	}
}

// sse is a provider that streams n deltas as fast as they are taken.
func sse(n int) http.Handler {
	var body strings.Builder
	for i := range n {
		fmt.Fprintf(&body, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"any\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word %d \"},\"finish_reason\":null}]}\n\n", i)
	}
	body.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	whole := []byte(body.String())
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(whole)
	})
}

// appendChunks appends the deltas as plainly as can be: batches of 64, one waited for at a time.
func appendChunks(b *testing.B, log *store.Log, deltas []string) {
	for len(deltas) > 0 {
		n := min(64, len(deltas))
		tip, _ := log.Tip()
		batch := store.Batch{From: tip + 1}
		for _, d := range deltas[:n] {
			body, err := event.Encode(event.AssistantChunk{Text: d})
			if err != nil {
				b.Fatal(err)
			}
			batch.Events = append(batch.Events, store.NewEvent{Type: string(event.AssistantChunkType), Payload: body, Streamed: true})
		}
		if _, err := log.Append(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
		deltas = deltas[n:]
	}
}

// wholeTurn wakes the agent and waits for the end of its turn.
func wholeTurn(b *testing.B, a *Agent) {
	moved := make(chan struct{}, 1)
	stop := a.Log().Watch(func() {
		select {
		case moved <- struct{}{}:
		default:
		}
	})
	defer stop()
	from, _ := a.Log().Tip()
	if err := a.Inject(context.Background(), Inject{Text: "go", Wake: true}); err != nil {
		b.Fatal(err)
	}
	for {
		<-moved
		if tip, _ := a.Log().Tip(); tip-from < streamedChunks {
			continue
		}
		if st, err := a.State(context.Background()); err != nil || st.Status == Idle {
			return
		}
	}
}

// BenchmarkHistoryOfALongSession prints what a request's history costs in a session
// of a million events whose checkpoint is 1,000 events back, beside one of 10,000.
func BenchmarkHistoryOfALongSession(b *testing.B) {
	events := 1_000_000
	if testing.Short() {
		events = 100_000
	}
	st := openStore(b)
	long, short := filled(b, st, "long", events), filled(b, st, "short", 10_000)
	load := func(log *store.Log) time.Duration {
		start := time.Now()
		tip, _ := log.Tip()
		if _, err := history.Load(context.Background(), log, tip, "local/any"); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	load(long)
	load(short)
	var longTime, shortTime time.Duration
	for b.Loop() {
		shortTime += load(short)
		longTime += load(long)
	}
	b.ReportMetric(float64(events), "events")
	b.ReportMetric(float64(longTime)/float64(shortTime), "ratio")
}

// filled makes a log of n events, mostly chunks, with a checkpoint 1,000 events before its end.
func filled(b *testing.B, st *store.Store, id string, n int) *store.Log {
	log := logOf(b, st, id)
	encode := func(p event.Payload) store.NewEvent {
		body, err := event.Encode(p)
		if err != nil {
			b.Fatal(err)
		}
		return store.NewEvent{Type: string(p.EventType()), Payload: body, Streamed: p.EventType().Streamed()}
	}
	chunk := encode(event.AssistantChunk{Text: "some words of an answer"})
	said := encode(event.UserMessage{Text: "and then?"})
	replied := encode(event.AssistantMessage{Parts: []event.Part{{Type: event.PartText, Text: "some words of an answer"}}})
	for at := 1; at < n; {
		batch := store.Batch{From: int64(at)}
		for ; at < n && len(batch.Events) < 1000; at++ {
			switch {
			case at == n-1000:
				batch.Events = append(batch.Events, encode(event.SessionCompacted{UptoSeq: int64(at - 1), Summary: "so far"}))
			case at%20 == 0:
				batch.Events = append(batch.Events, said)
			case at%20 == 19:
				batch.Events = append(batch.Events, replied)
			default:
				batch.Events = append(batch.Events, chunk)
			}
		}
		if _, err := log.Append(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
	return log
}

func openStore(b *testing.B) *store.Store {
	st, err := store.Open(context.Background(), filepath.Join(b.TempDir(), "log.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := st.Close(); err != nil {
			b.Error(err)
		}
	})
	return st
}

func logOf(b *testing.B, st *store.Store, id string) *store.Log {
	body, err := event.Encode(event.SessionCreated{})
	if err != nil {
		b.Fatal(err)
	}
	first := []store.NewEvent{{Type: string(event.SessionCreatedType), Payload: body}}
	if err := st.Create(context.Background(), store.Session{ID: id, Owner: "me", Agent: DefaultAgent}, first); err != nil {
		b.Fatal(err)
	}
	log, err := st.OpenLog(context.Background(), id)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(log.Close)
	return log
}

func noTools(b *testing.B) func() *tool.Set {
	set, err := tool.NewSet(nil)
	if err != nil {
		b.Fatal(err)
	}
	return func() *tool.Set { return set }
}

// cpu is the processor time that the process spends while work runs.
func cpu(work func()) time.Duration {
	before := used()
	work()
	return used() - before
}

func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of this process it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
