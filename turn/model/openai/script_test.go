package openai

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

var update = flag.Bool("update", false, "rewrite what the scenarios of testdata expect")

// A scenario is a file: what it is about, the answers of a provider one behind the
// other, and what the client makes of them. Answers are sent as they stand, save for
// what stands in ‹›: hex bytes, or the way the answer ends:
//
//	‹cut›   the connection is closed before the body ends
//	‹end›   the body ends here, without the end of the line
//	‹hang›  nothing more comes, and the connection stays
type scenario struct {
	about   string
	answers []scripted
	want    string
}

// scripted is one answer of the provider.
type scripted struct {
	status int
	header http.Header
	body   string
	ending string // cut, hang, or "" for the end
}

const (
	answerMark = "==== answer"
	expectMark = "==== expect"
)

func readScenario(t testing.TB, file string) scenario {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	above, want, ok := strings.Cut(string(b), expectMark+"\n")
	parts := strings.Split(above, answerMark)
	if !ok || len(parts) < 2 {
		t.Fatalf("%s: no answer, or no expectation", file)
	}
	s := scenario{about: parts[0], want: want}
	for _, p := range parts[1:] {
		head, body, _ := strings.Cut(p, "\n")
		a := scripted{status: 200, header: http.Header{"Content-Type": {"text/event-stream"}}}
		for i, word := range strings.Split(strings.TrimSpace(head), "; ") {
			if i == 0 && word != "" {
				if a.status, err = strconv.Atoi(word); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
			}
			if name, value, ok := strings.Cut(word, ": "); ok {
				a.header.Set(name, value)
			}
		}
		a.body, a.ending = rawBody(body)
		s.answers = append(s.answers, a)
	}
	return s
}

var token = regexp.MustCompile(`‹[^›]*›`)

func rawBody(text string) (body, ending string) {
	for _, end := range []string{"cut", "end", "hang"} {
		if before, _, ok := strings.Cut(text, "‹"+end+"›"); ok {
			text, ending = before, end
		}
	}
	body = token.ReplaceAllStringFunc(text, func(tok string) string {
		var b []byte
		for _, h := range strings.Fields(strings.Trim(tok, "‹›")) {
			n, err := strconv.ParseUint(h, 16, 8)
			if err != nil {
				panic(tok)
			}
			b = append(b, byte(n))
		}
		return string(b)
	})
	return body, strings.TrimPrefix(ending, "end")
}

// provider is a model server on a real socket that answers by script.
type provider struct {
	*httptest.Server
	bytewise bool // a write and a flush for each byte

	mu       sync.Mutex
	script   []scripted
	requests []recorded
}

type recorded struct {
	path   string
	header http.Header
	body   string
}

func newProvider(t testing.TB, script ...scripted) *provider {
	p := &provider{script: script}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.requests = append(p.requests, recorded{r.URL.String(), r.Header.Clone(), string(body)})
	n := len(p.requests) - 1
	var a scripted
	if n < len(p.script) {
		a = p.script[n]
	} else {
		a = scripted{status: 500, body: "the script is over"}
	}
	p.mu.Unlock()
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	out := http.NewResponseController(w)
	step := max(1, len(a.body))
	if p.bytewise {
		step = 1
	}
	for b := a.body; b != ""; b = b[min(step, len(b)):] {
		io.WriteString(w, b[:min(step, len(b))])
		out.Flush()
	}
	switch a.ending {
	case "cut":
		out.Flush()
		panic(http.ErrAbortHandler)
	case "hang":
		out.Flush()
		<-r.Context().Done()
	}
}

// seen is the recorded requests so far.
func (p *provider) seen() []recorded {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

const testKey = "sk-test-0123456789"

// client is a client of the provider that does not wait between tries.
func (p *provider) client(t testing.TB, change func(*Config)) *Client {
	cfg := Config{BaseURL: p.URL + "/v1", APIKey: testKey, Timeouts: limits}
	if change != nil {
		change(&cfg)
	}
	c := New(cfg)
	c.wait = func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }
	t.Cleanup(c.Close)
	return c
}

var question = model.Request{
	Model:    "m",
	Messages: []model.Message{{Role: model.User, Text: "go"}},
	Tools:    []model.Tool{{Name: "Read"}, {Name: "Glob"}, {Name: "Bash"}},
}

// transcript asks and writes down all that came of it, one thing a line.
func transcript(t testing.TB, c *Client, req model.Request) string {
	t.Helper()
	var b, text, thought strings.Builder
	reply, err := c.Stream(context.Background(), req, func(d model.Delta) {
		switch {
		case d.Retry != nil:
			fmt.Fprintf(&b, "retry %d: %s\n", d.Retry.Attempt, failureLine(d.Retry.Cause))
		case d.Text != "":
			text.WriteString(d.Text)
			fmt.Fprintf(&b, "text %+q\n", d.Text)
		case d.Reasoning != "":
			thought.WriteString(d.Reasoning)
			fmt.Fprintf(&b, "reasoning %+q\n", d.Reasoning)
		default:
			t.Error("an empty delta was emitted")
		}
	})
	if err != nil {
		var e *model.Error
		if !errors.As(err, &e) {
			t.Errorf("%T is no *model.Error: %v", err, err)
			return b.String() + err.Error()
		}
		return b.String() + "error " + failureLine(e) + "\n"
	}
	if reply.Text != text.String() { // guarantee 2 of package model
		t.Errorf("the reply says %q, the deltas %q", reply.Text, text.String())
	}
	fmt.Fprintf(&b, "reply %+q stop %q%s\n", reply.Text, reply.Stop, usageLine(reply.Usage))
	if r := reply.Reasoning; r != nil {
		if r.Text != thought.String() {
			t.Errorf("the reasoning says %q, the deltas %q", r.Text, thought.String())
		}
		fmt.Fprintf(&b, "thought %s\n", r.Opaque)
	}
	for _, call := range reply.Calls {
		fmt.Fprintf(&b, "call %q %s(%s)\n", call.ID, call.Name, call.Args)
		if call.ArgsError != "" {
			fmt.Fprintf(&b, "     not run: %s\n", call.ArgsError)
		}
	}
	return b.String()
}

func failureLine(e *model.Error) string {
	s := string(e.Code)
	if e.Retryable {
		s += " retryable"
	}
	if e.RetryAfter > 0 {
		s += " after " + e.RetryAfter.String()
	}
	return s + ": " + e.Message
}

func usageLine(u *event.Usage) string {
	if u == nil {
		return ""
	}
	s := " usage"
	if u.PromptTokens != nil {
		s += " prompt=" + strconv.FormatInt(*u.PromptTokens, 10)
	}
	if u.CompletionTokens != nil {
		s += " completion=" + strconv.FormatInt(*u.CompletionTokens, 10)
	}
	if u.Cost != nil {
		s += " cost=" + strconv.FormatFloat(*u.Cost, 'g', -1, 64)
	}
	return s
}

// play runs the scenarios of testdata whose names begin with prefix: the answer in one
// piece, and byte by byte; both must come to the same.
func play(t *testing.T, prefix string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("testdata", prefix+"*.txt"))
	if len(files) == 0 {
		t.Fatalf("no scenario %s", prefix)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := readScenario(t, file)
			for _, bytewise := range []bool{false, true} {
				p := newProvider(t, s.answers...)
				p.bytewise = bytewise
				c := p.client(t, func(cfg *Config) { cfg.Retries = len(s.answers) - 1 })
				got := transcript(t, c, question)
				if n := len(p.seen()); n != len(s.answers) {
					t.Errorf("%d requests for %d answers", n, len(s.answers))
				}
				if *update && !bytewise {
					s.want = got
					rewrite(t, file, got)
				}
				if diff := cmp.Diff(s.want, got); diff != "" {
					t.Errorf("byte by byte %v (-want +got):\n%s", bytewise, diff)
				}
			}
		})
	}
}

func rewrite(t *testing.T, file, want string) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	above, _, _ := strings.Cut(string(b), expectMark+"\n")
	if err := os.WriteFile(file, []byte(above+expectMark+"\n"+want), 0o644); err != nil {
		t.Fatal(err)
	}
}
