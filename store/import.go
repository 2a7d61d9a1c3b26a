package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// ImportOptions say what the lines do not.
type ImportOptions struct {
	Owner    string                // whose the sessions become; "" = as the export says
	Streamed func(typ string) bool // tells the types of streamed pieces; nil = there are none
	CheckID  func(id string) error // refuses an id that no session may have here; nil = whatever can be stored may
	First    string                // the type of event 0 of every log; "" = any, and a log may be empty
}

// Imported is what an import brought in.
type Imported struct {
	Sessions []string // their ids, in order
	Events   int64
}

// Import brings in the sessions that Export wrote, one or several of them behind each
// other: the same ids, seqs, times and payloads, so that an export of them is the same
// again. A line that Export would not have written is refused by its number, as are
// ids that are taken: ErrInvalid, ErrConflict, ErrExists, ErrDeleted. A session comes
// whole or not at all, and is seen only when it is whole; it is written like a Copy. What is
// returned with an error are the sessions before the one refused, which stay.
func (s *Store) Import(ctx context.Context, r io.Reader, o ImportOptions) (Imported, error) {
	im := importing{store: s, options: o, in: newLines(r)}
	for {
		line, err := im.in.next()
		if errors.Is(err, io.EOF) {
			return im.done, nil
		}
		if err == nil {
			err = im.session(ctx, line)
		}
		if err != nil {
			return im.done, fmt.Errorf("import: line %d: %w", im.in.number, err)
		}
	}
}

// importing is an import under way.
type importing struct {
	store   *Store
	options ImportOptions
	in      *lines
	done    Imported

	header exportHeader
	head   string // of the session's envelopes
	draft  *draft
	seq    int64 // of the next event
	at     time.Time
	ids    map[string]struct{} // of the events so far: those of streamed pieces are in the envelopes only
	piece  request
	size   int // bytes of the piece
}

// session brings in one session, whose header is line.
func (im *importing) session(ctx context.Context, line []byte) (err error) {
	if err := im.begin(ctx, line); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			im.draft.giveUp()
		}
	}()
	h := &im.header
	for _, part := range []struct {
		what string
		n    int64
		add  func(line []byte) error
	}{{"texts that wait", h.Inbox, im.input}, {"remembered input ids", h.Seen, im.remembered}, {"events", h.Events, im.event}} {
		for i := range part.n {
			line, err := im.in.next()
			if errors.Is(err, io.EOF) {
				return fmt.Errorf("%w: the file ends here, session %q lacks %d of its %d %s; export it again",
					ErrInvalid, h.Session, part.n-i, part.n, part.what)
			}
			if err == nil {
				err = part.add(line)
			}
			if err == nil && (len(im.piece.records)+len(im.piece.put)+len(im.piece.seen) >= PageEvents || im.size >= PageBytes) {
				err = im.flush(ctx, nil)
			}
			if err != nil {
				return err
			}
		}
	}
	x := Session{ID: h.Session, Owner: h.Owner, Agent: h.Agent, Title: h.Title, ParentID: h.ParentID, Pinned: h.Pinned, CreatedAt: h.CreatedAt}
	if err := im.flush(ctx, &x); err != nil {
		return err
	}
	im.done.Sessions = append(im.done.Sessions, h.Session)
	im.done.Events += h.Events
	return nil
}

// begin reads the header of a session.
func (im *importing) begin(ctx context.Context, line []byte) error {
	h := exportHeader{}
	if json.Unmarshal(line, &h); h.Version > exportVersion { // may have members that we do not know
		return fmt.Errorf("%w: the export's version is %d, this program knows %d; import it with a newer one", ErrInvalid, h.Version, exportVersion)
	}
	if err := strictly(line, &h); err != nil || h.Version != exportVersion {
		return fmt.Errorf(`%w: here the header of a session should be, {"hitchpost_export":%d,…}; is this what hitchpost export wrote?`, ErrInvalid, exportVersion)
	}
	if err := checkSessionID(h.Session); err != nil {
		return err
	}
	if im.options.CheckID != nil {
		if err := im.options.CheckID(h.Session); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	if h.Inbox < 0 || h.Seen < 0 || h.Events < 0 {
		return fmt.Errorf("%w: the header of session %q counts less than no lines", ErrInvalid, h.Session)
	}
	if first := im.options.First; first != "" && h.Events == 0 {
		return fmt.Errorf("%w: session %q has no event; every log begins with %s", ErrInvalid, h.Session, first)
	}
	switch err := im.store.free(ctx, h.Session); {
	case errors.Is(err, ErrExists):
		return fmt.Errorf("session %q: %w; delete it, or leave its lines out of the import", h.Session, err)
	case errors.Is(err, ErrDeleted):
		return fmt.Errorf("session %q: %w; leave its lines out of the import", h.Session, err)
	case err != nil:
		return err
	}
	if im.options.Owner != "" {
		h.Owner = im.options.Owner
	}
	h.CreatedAt = h.CreatedAt.UTC().Truncate(time.Microsecond)
	im.header, im.head, im.draft = h, envelopeHead(h.Session), im.store.newDraft(h.Owner)
	im.seq, im.at, im.ids = 0, time.Time{}, make(map[string]struct{})
	im.piece, im.size = request{}, 0
	return nil
}

// input takes the line of a text that waits.
func (im *importing) input(line []byte) error {
	var l exportInput
	if err := strictly(line, &l); err != nil || l.Inbox == nil {
		return fmt.Errorf(`%w: here a text that waits should be, {"inbox":{…}}; the header of session %q counts %d`, ErrInvalid, im.header.Session, im.header.Inbox)
	}
	in := Input{l.Inbox.Position, l.Inbox.ID, l.Inbox.Queue, l.Inbox.Text, l.Inbox.Wake, l.Inbox.QueuedAt, l.Inbox.ClientID}
	if err := checkInputs([]Input{in}, nil, nil); err != nil {
		return err
	}
	im.piece.put = append(im.piece.put, in)
	im.size += len(in.Text)
	return nil
}

// remembered takes the line of an input id.
func (im *importing) remembered(line []byte) error {
	var l exportSeen
	if err := strictly(line, &l); err != nil || l.Seen == nil {
		return fmt.Errorf(`%w: here a remembered input id should be, {"seen":{…}}; the header of session %q counts %d`, ErrInvalid, im.header.Session, im.header.Seen)
	}
	notes := map[string]string{l.Seen.ID: l.Seen.Note}
	if err := checkInputs(nil, []string{l.Seen.ID}, notes); err != nil {
		return err
	}
	if im.piece.notes == nil {
		im.piece.notes = notes
	}
	im.piece.notes[l.Seen.ID] = l.Seen.Note
	im.piece.seen = append(im.piece.seen, l.Seen.ID)
	return nil
}

// event takes an envelope, which must be the very bytes that an append would have made.
func (im *importing) event(line []byte) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	e, lacks := parse(im.head, line)
	if lacks != "" {
		return refuse("here event %d of session %q should be, as hitchpost export writes it; there is no %s where it belongs", im.seq, im.header.Session, lacks)
	}
	if e.Seq != im.seq {
		return refuse("the event's seq is %d, that of the next event of session %q is %d; a line is missing, or stands twice", e.Seq, im.header.Session, im.seq)
	}
	if first := im.options.First; first != "" && e.Seq == 0 && e.Type != first {
		return refuse("event 0 of session %q is %.40q; every log begins with %s", im.header.Session, e.Type, first)
	}
	given := NewEvent{ID: e.ID, Type: e.Type, Payload: e.Payload}
	if !isID(e.ID) {
		return refuse("the event's id %.40q is not 16 lowercase hex digits", e.ID)
	}
	checked, err := checkEvent(given)
	if err != nil {
		return err
	}
	if _, taken := im.ids[e.ID]; taken {
		return fmt.Errorf("%w: an earlier event of session %q has the id %s", ErrConflict, im.header.Session, e.ID)
	}
	if e.At.Before(im.at) {
		return refuse("the event is older than the one before it")
	}
	checked.Streamed = im.options.Streamed != nil && im.options.Streamed(e.Type)
	records, _ := encode(im.head, im.seq, e.At, []NewEvent{checked})
	if !bytes.Equal(records[0].line, line) {
		return refuse("event %d of session %q is not written as hitchpost export writes it", im.seq, im.header.Session)
	}
	im.piece.records = append(im.piece.records, records[0])
	im.piece.texts = append(im.piece.texts, im.store.searchTexts(im.seq, []NewEvent{checked})...)
	im.size += len(line)
	im.ids[e.ID] = struct{}{}
	im.seq, im.at = im.seq+1, e.At
	return nil
}

// flush writes the piece; with x the session is whole.
func (im *importing) flush(ctx context.Context, x *Session) error {
	piece := im.piece
	piece.create = x
	im.piece, im.size = request{}, 0
	if err := im.draft.write(ctx, &piece); err != nil {
		return fmt.Errorf("session %q: %w", im.header.Session, err)
	}
	return nil
}

// strictly decodes a line that holds one JSON object, with no member that v does not have.
func strictly(line []byte, v any) error {
	if !utf8.Valid(line) { // or it would be mended in silence
		return errors.New("not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("more than one value")
	}
	return nil
}
