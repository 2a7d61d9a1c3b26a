package openai

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
	"hitchpost/turn/model/modeltest"
)

var limits = modeltest.Limits

// Times of package httpstream.
const (
	baseWait      = 500 * time.Millisecond
	maxRetryAfter = time.Minute
	tailWait      = 10 * time.Second
	drainWait     = 50 * time.Millisecond
)

// inBubble runs f with a client of a server that answers with h, all on a fake clock.
func inBubble(t *testing.T, retries int, h http.HandlerFunc, f func(t *testing.T, c *Client, transport *http.Transport)) {
	modeltest.Bubble(t, h, func(t *testing.T, cfg httpstream.Config, tr *http.Transport) {
		cfg.Retries = retries
		f(t, New(cfg), tr)
	})
}

func send(w http.ResponseWriter, s string) {
	io.WriteString(w, s)
	http.NewResponseController(w).Flush()
}

func word(s string) string { return `data: {"choices":[{"delta":{"content":"` + s + `"}}]}` + "\n\n" }

const finish = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"

// ask is Stream, and how long it took.
func ask(ctx context.Context, c *Client, emit func(model.Delta)) (model.Reply, time.Duration, error) {
	if emit == nil {
		emit = func(model.Delta) {}
	}
	start := time.Now()
	reply, err := c.Stream(ctx, question, emit)
	return reply, time.Since(start), err
}

func isFailure(t *testing.T, err error, code event.Code, retryable bool, words string) {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) || e.Code != code || e.Retryable != retryable || !strings.Contains(e.Message, words) {
		t.Errorf("got %#v, want %s, retryable %v, saying %q", err, code, retryable, words)
	}
}

func TestAConnectionThatDoesNotStandInTimeFails(t *testing.T) {
	inBubble(t, 0, nil, func(t *testing.T, c *Client, tr *http.Transport) {
		tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done() // at the latest with Close: the bubble fails if the dial stays
			return nil, ctx.Err()
		}
		_, took, err := ask(t.Context(), c, nil)
		isFailure(t, err, event.CodeProvider, true, "no connection to the provider within 10s")
		if took != limits.Connect {
			t.Errorf("it took %v", took)
		}
	})
}

func TestASilentProviderFailsAtTheFirstByteLimit(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	inBubble(t, 0, hang, func(t *testing.T, c *Client, _ *http.Transport) {
		_, took, err := ask(t.Context(), c, nil)
		isFailure(t, err, event.CodeProvider, true, "did not begin to answer within 1m0s")
		if took != limits.FirstByte {
			t.Errorf("it took %v", took)
		}
	})
}

// guarantee 4 of package httpstream
func TestCommentsAndBlankLinesDoNotHoldOffTheStallLimit(t *testing.T) {
	for name, noise := range map[string]string{"comments": ": ping\n\n", "empty data": "data:\n\n", "half a line": "x", "blank lines": "\n"} {
		t.Run(name, func(t *testing.T) {
			noisy := func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				send(w, word("Hi"))
				for r.Context().Err() == nil {
					time.Sleep(10 * time.Second)
					send(w, noise)
				}
			}
			inBubble(t, 3, noisy, func(t *testing.T, c *Client, _ *http.Transport) {
				_, took, err := ask(t.Context(), c, nil)
				isFailure(t, err, event.CodeProvider, true, "stalled: no event within 2m0s")
				if took != limits.Stall {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func TestASlowStreamOfEventsNeverStalls(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		send(w, "") // the headers
		for range 100 {
			time.Sleep(limits.Stall - time.Second)
			send(w, word("w"))
		}
		send(w, finish+"data: [DONE]\n\n")
	}
	inBubble(t, 0, slow, func(t *testing.T, c *Client, _ *http.Transport) {
		reply, took, err := ask(t.Context(), c, nil)
		if err != nil || len(reply.Text) != 100 || took != 100*(limits.Stall-time.Second) {
			t.Errorf("%d bytes, %v, after %v", len(reply.Text), err, took)
		}
	})
}

// guarantee 1: nothing hangs behind a finish reason.
func TestA19AFinishReasonAndSilenceIsAReplyAfterAShortWait(t *testing.T) {
	quiet := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		send(w, word("Hi")+finish)
		<-r.Context().Done()
	}
	inBubble(t, 0, quiet, func(t *testing.T, c *Client, _ *http.Transport) {
		reply, took, err := ask(t.Context(), c, nil)
		if err != nil || reply.Text != "Hi" || took != tailWait {
			t.Errorf("%q, %v, after %v", reply.Text, err, took)
		}
	})
}

func TestABodyThatNeverEndsDoesNotDelayTheReplyBehindDone(t *testing.T) {
	quiet := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		send(w, word("Hi")+finish+"data: [DONE]\n\n")
		<-r.Context().Done()
	}
	inBubble(t, 0, quiet, func(t *testing.T, c *Client, _ *http.Transport) {
		reply, took, err := ask(t.Context(), c, nil)
		if err != nil || reply.Text != "Hi" || took != drainWait {
			t.Errorf("%q, %v, after %v", reply.Text, err, took)
		}
	})
}

func TestAConnectionIsUsedAgainBehindDone(t *testing.T) {
	fine := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		send(w, word("Hi")+finish+"data: [DONE]\n\n")
	}
	inBubble(t, 0, fine, func(t *testing.T, c *Client, tr *http.Transport) {
		dial, dials := tr.DialContext, 0
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++
			return dial(ctx, network, addr)
		}
		for range 5 {
			if _, _, err := ask(t.Context(), c, nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the connection goes back to the pool on its own time
		}
		if dials != 1 {
			t.Errorf("%d connections for 5 requests", dials)
		}
	})
}

// guarantee 1 of package httpstream
func TestRetriesWaitLongerEachTimeAndEndWithTheLastFailure(t *testing.T) {
	refuse := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }
	inBubble(t, 4, nil, func(t *testing.T, c *Client, tr *http.Transport) {
		tr.DialContext = refuse
		var waits []time.Duration
		_, took, err := ask(t.Context(), c, func(d model.Delta) {
			if d.Retry.Attempt != len(waits)+2 {
				t.Errorf("retry %d is called attempt %d", len(waits)+1, d.Retry.Attempt)
			}
			isFailure(t, d.Retry.Cause, event.CodeProvider, true, "cannot be reached: connection refused")
			waits = append(waits, d.Retry.After)
		})
		isFailure(t, err, event.CodeProvider, true, "cannot be reached: connection refused")
		var sum time.Duration
		for i, w := range waits {
			if full := baseWait << i; w < full/2 || w > full {
				t.Errorf("wait %d is %v, want %v to %v", i+1, w, full/2, full)
			}
			sum += w
		}
		if len(waits) != 4 || took != sum {
			t.Errorf("%d waits, %v in sum; it took %v", len(waits), sum, took)
		}
	})
}

// guarantee 1 of package httpstream
func TestRetryAfterIsWaitedForUpToTheCap(t *testing.T) {
	for name, c := range map[string]struct {
		value       string
		least, most time.Duration
	}{
		"seconds":      {"7", 7 * time.Second, 8 * time.Second},
		"date":         {"Sat, 01 Jan 2000 00:00:20 GMT", 20 * time.Second, 21 * time.Second}, // a bubble's clock starts at midnight of that day
		"past date":    {"Fri, 31 Dec 1999 23:00:00 GMT", baseWait / 2, baseWait},
		"beyond":       {"86400", maxRetryAfter, maxRetryAfter + time.Second},
		"beyond a lot": {"1e300", maxRetryAfter, maxRetryAfter + time.Second},
		"date beyond":  {"Sat, 08 Jan 2000 00:00:00 GMT", maxRetryAfter, maxRetryAfter + time.Second},
		"nonsense":     {"soon", baseWait / 2, baseWait},
		"negative":     {"-5", baseWait / 2, baseWait},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			busy := func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if tries++; tries == 1 {
					w.Header().Set("Retry-After", c.value)
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				send(w, word("Hi")+finish+"data: [DONE]\n\n")
			}
			inBubble(t, 1, busy, func(t *testing.T, cl *Client, _ *http.Transport) {
				reply, took, err := ask(t.Context(), cl, nil)
				if err != nil || reply.Text != "Hi" || took < c.least || took > c.most {
					t.Errorf("%q, %v, after %v; want %v to %v", reply.Text, err, took, c.least, c.most)
				}
			})
		})
	}
}

var errStopped = errors.New("stopped by the user")

// A13, and guarantee 4 of package model
func TestA13ACancelEndsTheStreamAtOnceWhereverItIs(t *testing.T) {
	silent := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done() // comes only once the connection is closed
	}
	for name, h := range map[string]http.HandlerFunc{
		"before the first byte": silent,
		"between events": func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			send(w, word("Hi"))
			<-r.Context().Done()
		},
		"waiting for a retry": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "50")
			w.WriteHeader(http.StatusTooManyRequests)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var left atomic.Bool
			watched := func(w http.ResponseWriter, r *http.Request) {
				h(w, r)
				left.Store(true)
			}
			inBubble(t, 3, watched, func(t *testing.T, c *Client, _ *http.Transport) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(3*time.Second, func() { cancel(errStopped) })
				_, took, err := ask(ctx, c, nil)
				if err != errStopped || took != 3*time.Second {
					t.Errorf("%v, after %v", err, took)
				}
				synctest.Wait()
				if !left.Load() {
					t.Error("the provider still has its connection")
				}
			})
		})
	}
}

func TestACancelledContextAsksNobody(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errStopped)
	p := newProvider(t)
	if _, _, err := ask(ctx, client(t, p, nil), nil); err != errStopped || len(p.Seen()) != 0 {
		t.Errorf("%v after %d requests", err, len(p.Seen()))
	}
}
