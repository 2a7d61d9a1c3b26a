package modeltest

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hitchpost/turn/model/httpstream"
)

// Update tells that expectations are to be written, not compared.
var Update = flag.Bool("update", false, "rewrite what the scenarios of testdata expect")

// A Scenario is a file: what it is about, the answers of a provider one behind the
// other, and what the client makes of them. Answers are sent as they stand, save for
// what stands in ‹›: hex bytes, or the way the answer ends:
//
//	‹cut›   the connection is closed before the body ends
//	‹end›   the body ends here, without the end of the line
//	‹hang›  nothing more comes, and the connection stays
type Scenario struct {
	Answers []Answer
	want    string
}

// Answer is one answer of the provider.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	Ending string // cut, hang, or "" for the end
}

const (
	answerMark = "==== answer"
	expectMark = "==== expect"
)

// ReadScenario reads a file of testdata.
func ReadScenario(t testing.TB, file string) Scenario {
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
	s := Scenario{want: want}
	for _, p := range parts[1:] {
		head, body, _ := strings.Cut(p, "\n")
		a := Answer{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}}
		for i, word := range strings.Split(strings.TrimSpace(head), "; ") {
			if i == 0 && word != "" {
				if a.Status, err = strconv.Atoi(word); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
			}
			if name, value, ok := strings.Cut(word, ": "); ok {
				a.Header.Set(name, value)
			}
		}
		a.Body, a.Ending = rawBody(body)
		s.Answers = append(s.Answers, a)
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

// Play runs the scenarios of testdata whose names begin with prefix, with clients that
// open makes: the answer in one piece, and byte by byte; both must come to the same.
func Play(t *testing.T, prefix string, open func(httpstream.Config) Client) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("testdata", prefix+"*.txt"))
	if len(files) == 0 {
		t.Fatalf("no scenario %s", prefix)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := ReadScenario(t, file)
			for _, bytewise := range []bool{false, true} {
				p := NewProvider(t, s.Answers...)
				p.Bytewise = bytewise
				cfg := p.Config()
				cfg.Retries = len(s.Answers) - 1
				c := open(cfg)
				t.Cleanup(c.Close)
				got := Transcript(t, c, Question)
				if n := len(p.Seen()); n != len(s.Answers) {
					t.Errorf("%d requests for %d answers", n, len(s.Answers))
				}
				if *Update && !bytewise {
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
