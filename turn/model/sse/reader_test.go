package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// all reads every event, as text: name|data, a cut one with a trailing ~.
func all(t testing.TB, src io.Reader) ([]string, error) {
	t.Helper()
	var got []string
	r := NewReader(src)
	for {
		ev, err := r.Next()
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		s := ev.Name + "|" + string(ev.Data)
		if ev.Cut {
			s += "~"
		}
		got = append(got, s)
	}
}

func equal(a, b []string) bool { return fmt.Sprintf("%q", a) == fmt.Sprintf("%q", b) }

// guarantees 1, 2, 3 and 5
func TestA22EveryFramingGivesTheSameEvents(t *testing.T) {
	want := []string{"|one", "|two\nlines", "note|", "|three"}
	for name, stream := range map[string]string{
		"LF":             "data: one\n\ndata: two\ndata: lines\n\nevent: note\ndata:\n\ndata: three\n\n",
		"CRLF":           "data: one\r\n\r\ndata: two\r\ndata: lines\r\n\r\nevent: note\r\ndata:\r\n\r\ndata: three\r\n\r\n",
		"CR":             "data: one\r\rdata: two\rdata: lines\r\revent: note\rdata:\r\rdata: three\r\r",
		"mixed":          "data: one\r\n\ndata: two\rdata: lines\n\revent: note\ndata:\n\r\ndata: three\r\r\n",
		"no space":       "data:one\n\ndata:two\ndata:lines\n\nevent:note\ndata\n\ndata:three\n\n",
		"byte order":     "\uFEFFdata: one\n\ndata: two\ndata: lines\n\nevent: note\ndata:\n\ndata: three\n\n",
		"comments":       ": hello\n\n:\ndata: one\n\n: ping\n\n: ping\ndata: two\n: between\ndata: lines\n\nevent: note\ndata: \n\ndata: three\n\n",
		"other fields":   "id: 7\nretry: 10\n\nid: 8\ndata: one\n\ndata: two\nretry: 5\ndata: lines\n\nevent: x\nevent: note\ndata:\nfoo: bar\n\nnonsense\ndata: three\n\n",
		"empty lines":    "\n\n\ndata: one\n\n\n\ndata: two\ndata: lines\n\nevent: note\ndata:\n\ndata: three\n\n\n",
		"event, no data": "event: lost\n\ndata: one\n\ndata: two\ndata: lines\n\nevent: note\ndata:\n\ndata: three\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			for how, src := range map[string]io.Reader{
				"at once":          strings.NewReader(stream),
				"a byte each":      iotest.OneByteReader(strings.NewReader(stream)),
				"error with bytes": iotest.DataErrReader(strings.NewReader(stream)),
			} {
				got, err := all(t, src)
				if err != nil || !equal(got, want) {
					t.Errorf("%s: got %q, %v; want %q", how, got, err, want)
				}
			}
		})
	}
}

func TestOnlyOneSpaceBehindTheColonIsTakenOff(t *testing.T) {
	got, _ := all(t, strings.NewReader("data:  two\n\ndata:\ttab\n\ndata: a:b\n\n"))
	if want := []string{"| two", "|\ttab", "|a:b"}; !equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// guarantee 5
func TestWhatStandsBehindTheLastEmptyLineIsMarkedCut(t *testing.T) {
	for stream, want := range map[string][]string{
		"data: a\n\ndata: b\n":   {"|a", "|b~"},
		"data: a\n\ndata: b":     {"|a", "|b~"},
		"data: a\n\ndata: b\r":   {"|a", "|b~"},
		"data: a\n\nevent: b\n":  {"|a"},
		"data: a\n\n: comment":   {"|a"},
		"data: a\r\n\r":          {"|a"},
		"\uFEFFdata: a":          {"|a~"},
		"":                       nil,
		"event: e\ndata: 1\ndat": {"e|1~"},
	} {
		got, err := all(t, strings.NewReader(stream))
		if err != nil || !equal(got, want) {
			t.Errorf("%q: got %q, %v; want %q", stream, got, err, want)
		}
	}
}

// guarantee 2
func TestAnEventIsHandedOnBeforeAnythingFollowsIt(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r\n", "\r\n\r"} {
		synctest.Test(t, func(t *testing.T) {
			pr, pw := io.Pipe()
			events := make(chan string, 1)
			go func() {
				defer close(events)
				r := NewReader(pr)
				for {
					ev, err := r.Next()
					if err != nil {
						return
					}
					events <- string(ev.Data)
				}
			}()
			pw.Write([]byte("data: now" + end)) // and then silence
			synctest.Wait()
			select {
			case got := <-events:
				if got != "now" {
					t.Errorf("%q: got %q", end, got)
				}
			default:
				t.Errorf("%q: the event waits for what comes behind it", end)
			}
			pw.Close()
			for range events {
			}
		})
	}
}

// guarantee 4
func TestA23ALineOfAnySizeWithinTheCapPasses(t *testing.T) {
	for _, size := range []int{65_535, 65_537, 1<<20 + 1, 5 << 20, MaxEvent - len("data: ")} {
		long := strings.Repeat("x", size)
		got, err := all(t, strings.NewReader("data: "+long+"\n\ndata: after\n\n"))
		if err != nil || len(got) != 2 || got[0] != "|"+long || got[1] != "|after" {
			t.Errorf("%d bytes: %d events, %v", size, len(got), err)
		}
	}
}

// endless gives the same bytes for ever and counts them.
type endless struct {
	what []byte
	n    int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, bytes.Repeat(e.what, len(p)/len(e.what)))
	e.n += n
	return n, nil
}

// guarantee 4
func TestA23AnEventBeyondTheCapIsOneNamedError(t *testing.T) {
	for name, head := range map[string]string{"data": "data: ", "comment": ": ", "field": "", "name": "event: "} {
		src := &endless{what: []byte("x")}
		_, err := all(t, io.MultiReader(strings.NewReader(head), src))
		if !errors.Is(err, ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
		if src.n > MaxEvent+2*readSize {
			t.Errorf("%s: %d bytes were read before the cap was seen", name, src.n)
		}
	}
	src := &endless{what: []byte("data: many lines\n")}
	if _, err := all(t, src); !errors.Is(err, ErrTooLong) {
		t.Errorf("many lines: %v", err)
	}
}

func TestAnErrorOfTheSourceComesBehindTheEventsBeforeIt(t *testing.T) {
	broken := errors.New("broken")
	src := io.MultiReader(strings.NewReader("data: a\n\ndata: half"), iotest.ErrReader(broken))
	got, err := all(t, src)
	if !errors.Is(err, broken) || !equal(got, []string{"|a"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

// FuzzSplit holds guarantee 1: any cut of the bytes gives the same events.
func FuzzSplit(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\ndata: b\n\n"), uint8(1))
	f.Add([]byte("\uFEFFevent: e\rdata:\r\r\n: c\n\ndata"), uint8(3))
	f.Add([]byte("data: 1\ndata: 2\nid: 3\nretry: 4\n\ndata: cut"), uint8(7))
	f.Add([]byte("\r\r\n\n\r:\n\rdata\n\n"), uint8(2))
	f.Fuzz(func(t *testing.T, stream []byte, step uint8) {
		want, err := all(t, bytes.NewReader(stream))
		if err != nil {
			t.Fatal(err)
		}
		got, err := all(t, &stepReader{b: stream, step: int(step%16) + 1})
		if err != nil || !equal(got, want) {
			t.Fatalf("in steps of %d: %q, %v; at once: %q", step%16+1, got, err, want)
		}
		for i, ev := range want {
			if strings.Contains(ev, "\r") {
				t.Errorf("event %d holds a line end: %q", i, ev)
			}
			if strings.HasSuffix(ev, "~") && i < len(want)-1 && !bytes.Contains(stream, []byte("~")) {
				t.Errorf("event %d of %d is cut", i, len(want))
			}
		}
	})
}

type stepReader struct {
	b    []byte
	step int
}

func (s *stepReader) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.b[:min(s.step, len(s.b))])
	s.b = s.b[n:]
	return n, nil
}

// BenchmarkReader reads a stream of small events.
func BenchmarkReader(b *testing.B) {
	one := []byte(`data: {"id":"x","choices":[{"index":0,"delta":{"content":"word "}}]}` + "\n\n")
	const events = 1000
	stream := bytes.Repeat(one, events)
	b.ReportAllocs()
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		r := NewReader(bytes.NewReader(stream))
		n := 0
		for {
			if _, err := r.Next(); err != nil {
				break
			}
			n++
		}
		if n != events {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
}
