package rest

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"hitchpost/server/auth"
	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn/event"
)

// Bounds of a page of the raw log, in events.
const (
	eventsByDefault = 100
	maxEvents       = 1000
)

// logSeq is the header that says which seq of the log an answer knows of: what a stream
// tells behind it is new.
const logSeq = "X-Log-Seq"

func historyRoutes() []route {
	absent := refused(http.StatusBadRequest, http.StatusNotFound)
	return []route{
		{
			method: http.MethodGet, path: "/sessions/{session}/messages", verbs: auth.Watch, serve: listMessages,
			about: "Lists the entries of a session, oldest first: all of them, or the newest before an entry. The header " + logSeq + " says up to which seq of the log.",
			params: []param{
				query("limit", "How many entries, the newest of them; without it all.", positive),
				query("before_id", "Only entries before this one, which comes with the page before.", text),
			},
			answers: append([]answer{ok([]protocol.Entry{})}, absent...),
		},
		{
			method: http.MethodGet, path: "/sessions/{session}/events", verbs: auth.Watch, serve: listEvents,
			about: "Lists the events of a session's log, byte for byte as they are stored.",
			params: []param{
				query("from_seq", "The first one.", natural),
				query("limit", "How many at most: 100 if not given, and no more than 1000.", positive),
			},
			answers: append([]answer{ok([]protocol.LogEvent{})}, absent...),
		},
		{
			method: http.MethodGet, path: "/sessions/{session}/usage", verbs: auth.Watch, serve: getUsage,
			about:   "Sums what the providers told of the session's answers.",
			answers: append([]answer{ok(protocol.UsageTotal{})}, refused(http.StatusNotFound)...),
		},
	}
}

func listMessages(c *call) error {
	limit, err := c.limit(0, 0)
	if err != nil {
		return err
	}
	log, release, err := c.log()
	if err != nil {
		return err
	}
	defer release()
	tip, _ := log.Tip()
	before := tip + 1 // what is appended from now on is for the stream to tell
	if c.r.URL.Query().Has("before_id") {
		at, found, err := log.ByID(c.ctx, c.query("before_id"))
		if err != nil {
			return err
		}
		if !found || !project.MakesEntry(at) {
			return invalid("before_id: the session has no entry %.40q", c.query("before_id"))
		}
		before = at.Seq
	}
	c.w.Header().Set(logSeq, strconv.FormatInt(tip, 10))
	if limit == 0 && before > tip {
		return c.wholeHistory(log, tip)
	}
	done, err := c.slot()
	if err != nil {
		return err
	}
	entries, err := project.History(c.ctx, log, before, int(min(limit, math.MaxInt32)))
	done()
	if err != nil {
		return err
	}
	out := c.array()
	for _, e := range entries {
		out.add(e)
	}
	return out.end()
}

// wholeHistory sends every entry up to a seq, without holding all of them at once.
func (c *call) wholeHistory(log *store.Log, upto int64) error {
	w, err := project.NewWalk(c.ctx, log, upto)
	if err != nil {
		return err
	}
	out := c.array()
	for more := true; more && out.err == nil; {
		done, err := c.slot()
		if err != nil {
			return err
		}
		var entries [][]byte
		entries, more, err = w.Next(c.ctx)
		done()
		if err != nil {
			return err
		}
		for _, e := range entries {
			out.add(e)
		}
	}
	return out.end()
}

// slot waits for a turn to read a log, as every reader of a long piece of one does.
func (c *call) slot() (done func(), err error) {
	if done, err = c.server.Slots.Take(c.ctx); err != nil {
		return nil, context.Cause(c.ctx)
	}
	return done, nil
}

// array is an answer that is a JSON array, whose elements are written one by one. It begins
// with the first of them: until then the request can still be refused.
func (c *call) array() *array { return &array{w: c.w} }

type array struct {
	w   *writer
	n   int
	err error // of the client
}

func (a *array) begin() {
	a.w.Header().Set("Content-Type", "application/json")
	a.w.WriteHeader(http.StatusOK)
}

func (a *array) add(element []byte) {
	lead := []byte{','}
	if a.n == 0 {
		lead = []byte{'['}
		a.begin()
	}
	a.n++
	for _, p := range [][]byte{lead, element} {
		if a.err == nil {
			_, a.err = a.w.Write(p)
		}
	}
}

func (a *array) end() error {
	if a.n == 0 {
		a.begin()
		_, a.err = a.w.Write([]byte("[]\n"))
	} else if a.err == nil {
		_, a.err = a.w.Write([]byte("]\n"))
	}
	return nil // a client that is gone is told nothing
}

func listEvents(c *call) error {
	from, err := c.number("from_seq", 0, 0)
	if err != nil {
		return err
	}
	limit, err := c.limit(eventsByDefault, maxEvents)
	if err != nil {
		return err
	}
	log, release, err := c.log()
	if err != nil {
		return err
	}
	defer release()
	tip, _ := log.Tip()
	c.w.Header().Set(logSeq, strconv.FormatInt(tip, 10))
	out := c.array()
	for end := min(from+limit, tip+1); from < end; {
		lines, err := c.page(log, from)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			break
		}
		for _, line := range lines[:min(int64(len(lines)), end-from)] {
			out.add(line)
		}
		if out.err != nil {
			return nil
		}
		from += int64(len(lines))
	}
	return out.end()
}

// page reads a page of the log, under a slot.
func (c *call) page(log *store.Log, from int64) ([][]byte, error) {
	done, err := c.slot()
	if err != nil {
		return nil, err
	}
	defer done()
	page, err := log.Page(c.ctx, from)
	return page.Lines, err
}

// usageWindow is how many seqs of a log are looked through at once.
const usageWindow = 4096

func getUsage(c *call) error {
	log, release, err := c.log()
	if err != nil {
		return err
	}
	defer release()
	forked, _, err := log.Newest(c.ctx, -1, string(event.SessionForkedType)) // what it copied is none of its own
	if err != nil {
		return err
	}
	tip, _ := log.Tip()
	total := protocol.UsageTotal{Complete: true}
	for from := forked.Seq; from <= tip; from += usageWindow {
		answers, err := log.Structural(c.ctx, from, min(from+usageWindow-1, tip), string(event.AssistantMessageType))
		if err != nil {
			return err
		}
		for _, ev := range answers {
			count(&total, ev)
		}
	}
	return c.answer(http.StatusOK, total)
}

func count(total *protocol.UsageTotal, ev store.Event) {
	var told struct{ Usage event.Usage }
	_ = json.Unmarshal(ev.Payload, &told) // a log from elsewhere may tell it in another way, or not
	total.Answers++
	if told.Usage.PromptTokens == nil || told.Usage.CompletionTokens == nil {
		total.Complete = false
	}
	if n := told.Usage.PromptTokens; n != nil {
		total.InputTokens += *n
	}
	if n := told.Usage.CompletionTokens; n != nil {
		total.OutputTokens += *n
	}
	if cost := told.Usage.Cost; cost != nil {
		total.Cost += *cost
	}
}
