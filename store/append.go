package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

// Batch is appended as one: consecutive seqs in one transaction, or nothing.
// Texts are taken first, then calmed, then put.
type Batch struct {
	From   int64 // seq the first event gets: the tip of what was submitted before, plus one; else ErrConflict. Also without events
	Events []NewEvent
	At     time.Time // of the events: what Now said when the first of them was decided; zero = when they are queued
	Take   []int64   // positions of texts that leave the inbox; ErrConflict if one is not there
	Calm   []int64   // positions of texts that lose their wake
	Put    []Input   // texts that enter the inbox, at positions the caller gives
	Seen   []string  // clients' input ids to remember, beside those of Put; ErrConflict if one is remembered already

	SeenNote map[string]string // ids to remember like those of Seen, each with a note that SeenNote gives back; for an id of Put or Seen only the note
	Title    *string           // the session's title from now on; nil = as it is, as for the two below
	Pinned   *bool
	Digest   json.RawMessage // one JSON value, kept beside the session and returned with it
}

// Append appends a batch and waits for its commit. A context that ends stops the
// waiting, not the append: what became of it then is in the log.
func (l *Log) Append(ctx context.Context, b Batch) ([]Event, error) {
	r := l.request(b)
	events, err := r.wait(ctx, func() { l.enqueue(r) })
	if err != nil {
		return nil, fmt.Errorf("append to %q: %w", l.id, err)
	}
	return events, nil
}

// Submit appends a batch and returns at once. done is called once, by the writer,
// after the batch was committed and published, or had failed; it must not block.
// Batches of a session commit in the order of their Submits. On a closed store
// done is called before Submit returns. The queue has no bound: whoever
// streams bounds what it has under way.
func (l *Log) Submit(b Batch, done func([]Event, error)) {
	r := l.request(b)
	r.done = func(events []Event, err error) {
		if err != nil {
			err = fmt.Errorf("append to %q: %w", l.id, err)
		}
		done(events, err)
	}
	l.enqueue(r)
}

// request checks a batch. One that cannot be stored is queued still, so that it
// is answered in its turn.
func (l *Log) request(b Batch) *request {
	r := &request{log: l, from: b.From, take: b.Take, calm: b.Calm, put: b.Put, seen: seenIDs(b),
		notes: b.SeenNote, title: b.Title, pinned: b.Pinned, digest: b.Digest, at: b.At}
	r.checked, r.err = checkEvents(b.Events)
	if r.err == nil {
		r.err = checkInputs(b.Put, r.seen, b.SeenNote)
	}
	if r.err == nil && b.Title != nil && !utf8.ValidString(*b.Title) {
		r.err = fmt.Errorf("%w: title %.80q is not valid UTF-8", ErrInvalid, *b.Title)
	}
	if r.err == nil {
		r.err = checkDigest(b.Digest)
	}
	if r.err == nil {
		r.texts = l.store.searchTexts(b.From, r.checked)
	}
	return r
}

func checkDigest(digest []byte) error {
	if digest != nil && (len(digest) > MaxPayload || !json.Valid(digest) || !utf8.Valid(digest)) {
		return fmt.Errorf("%w: the digest is not up to %d bytes of JSON in UTF-8", ErrInvalid, MaxPayload)
	}
	return nil
}

// seenIDs are the ids that a batch remembers beside those of its texts.
func seenIDs(b Batch) []string {
	if len(b.SeenNote) == 0 {
		return b.Seen
	}
	seen := slices.Clone(b.Seen)
	for _, id := range slices.Sorted(maps.Keys(b.SeenNote)) {
		put := slices.ContainsFunc(b.Put, func(in Input) bool { return in.ClientID && in.ID == id })
		if !put && !slices.Contains(b.Seen, id) {
			seen = append(seen, id)
		}
	}
	return seen
}

// enqueue stamps, encodes and queues a batch, all in the caller's goroutine.
func (l *Log) enqueue(r *request) {
	l.retain() // whoever answers the request releases it
	if !l.stampAndQueue(r) {
		r.answer(ErrClosed)
	}
}

func (l *Log) stampAndQueue(r *request) bool {
	l.submit.Lock()
	defer l.submit.Unlock()
	if r.err == nil {
		at := stampAfter(l.lastAt)
		if !r.at.IsZero() && !r.at.Before(l.lastAt) {
			at = r.at
		}
		l.lastAt = at
		r.records, r.events = encode(l.head, r.from, at, r.checked)
	}
	return l.store.writer.queue.add(r)
}

// Now is the at of events that are decided now: whole microseconds, and never before
// that of the newest event. A sole appender that gives it as Batch.At knows what the
// log will say before the log does.
func (l *Log) Now() time.Time {
	l.submit.Lock()
	defer l.submit.Unlock()
	return stampAfter(l.lastAt)
}

// stampAfter is the time of an event behind one of the time last: it never goes back.
func stampAfter(last time.Time) time.Time {
	at := time.Now().UTC().Truncate(time.Microsecond)
	if at.Before(last) {
		return last
	}
	return at
}

// checkEvents checks all events of a batch; the first that cannot be stored is named.
func checkEvents(events []NewEvent) ([]NewEvent, error) {
	out := make([]NewEvent, len(events))
	for i, e := range events {
		var err error
		if out[i], err = checkEvent(e); err != nil {
			return nil, fmt.Errorf("event %d of %d: %w", i+1, len(events), err)
		}
	}
	return out, nil
}
