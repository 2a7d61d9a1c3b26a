package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Bounds of a page.
const (
	PageEvents = 256
	PageBytes  = 1 << 20 // of envelopes; a larger one has a page of its own
)

// Page is a piece of a log. The lines share one buffer; do not write to them.
type Page struct {
	Lines [][]byte
	Pos   int64 // length of the log in bytes up to and including the last line
}

// Page reads the events from seq from on, as many as a page holds; none when from
// is past the tip.
func (l *Log) Page(ctx context.Context, from int64) (Page, error) {
	from = max(from, 0)
	var n int
	var pos sql.NullInt64
	var text []byte
	err := l.reading(func() error {
		return l.store.queries.page.QueryRowContext(ctx, l.key, from, l.upTo(from+PageEvents-1)-from+1, PageBytes).Scan(&n, &pos, &text)
	})
	if err != nil {
		return Page{}, fmt.Errorf("read %q from seq %d: %w", l.id, from, err)
	}
	if n == 0 {
		return Page{}, nil
	}
	p := Page{Lines: make([][]byte, 0, n), Pos: pos.Int64}
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		p.Lines = append(p.Lines, line)
	}
	return p, nil
}

// Newest returns the newest structural event of any of the types (none given:
// of all) with a seq below before; before < 0 sets no bound.
func (l *Log) Newest(ctx context.Context, before int64, types ...string) (Event, bool, error) {
	upTo := before - 1
	if before < 0 {
		upTo = math.MaxInt64
	}
	upTo = l.upTo(upTo)
	query := l.store.queries.newest
	if len(types) == 0 {
		query = l.store.queries.newestOfAll
	}
	return l.one(ctx, query, l.key, typeList(types), upTo)
}

// ByID returns the structural event with that id.
func (l *Log) ByID(ctx context.Context, id string) (Event, bool, error) {
	if !isID(id) {
		return Event{}, false, nil
	}
	raw, _ := hex.DecodeString(id) // 16 hex digits, as isID says
	return l.one(ctx, l.store.queries.byID, l.key, raw, l.upTo(math.MaxInt64))
}

// Structural returns the structural events of the types (none given: of all)
// with from <= seq <= to, in order. Streamed pieces are neither returned nor scanned.
func (l *Log) Structural(ctx context.Context, from, to int64, types ...string) ([]Event, error) {
	query := l.store.queries.structural
	if len(types) == 0 {
		query = l.store.queries.structuralOfAll
	}
	return l.many(ctx, query, l.key, typeList(types), from, l.upTo(to))
}

// Before returns the newest events of the structural types, 1 to 16 of them, with a
// seq below seq (none: < 0), at most limit, in order. What it costs depends on the
// events it returns and not on the length of the log.
func (l *Log) Before(ctx context.Context, seq int64, limit int, types ...string) ([]Event, error) {
	if len(types) == 0 || len(types) > beforeTypes {
		return nil, fmt.Errorf("read %q backwards: %d types; name 1 to %d", l.id, len(types), beforeTypes)
	}
	if limit <= 0 {
		return nil, nil
	}
	upTo := seq - 1
	if seq < 0 {
		upTo = math.MaxInt64
	}
	events, err := l.many(ctx, l.store.queries.before, l.key, typeList(types), l.upTo(upTo), limit)
	slices.Reverse(events)
	return events, err
}

// Streamed returns the streamed pieces with from <= seq <= to, in order.
func (l *Log) Streamed(ctx context.Context, from, to int64) ([]Event, error) {
	return l.many(ctx, l.store.queries.streamed, l.key, from, l.upTo(to))
}

// upTo is seq, or the tip where that is lower: what is committed and not yet published
// is nobody's to read, or a reader would know of an event that the next one is not shown.
func (l *Log) upTo(seq int64) int64 {
	tip, _ := l.Tip()
	return min(seq, tip)
}

func typeList(types []string) string {
	b, _ := json.Marshal(types) // strings always encode
	return string(b)
}

func (l *Log) one(ctx context.Context, query *sql.Stmt, args ...any) (Event, bool, error) {
	var line []byte
	err := l.reading(func() error { return query.QueryRowContext(ctx, args...).Scan(&line) })
	if errors.Is(err, sql.ErrNoRows) {
		return Event{}, false, nil
	}
	if err != nil {
		return Event{}, false, fmt.Errorf("read %q: %w", l.id, err)
	}
	e, err := decode(l.head, line)
	if err != nil {
		return Event{}, false, fmt.Errorf("read %q: %w", l.id, err)
	}
	return e, true, nil
}

func (l *Log) many(ctx context.Context, query *sql.Stmt, args ...any) ([]Event, error) {
	var out []Event
	err := l.reading(func() error {
		rows, err := query.QueryContext(ctx, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var line []byte
			if err := rows.Scan(&line); err != nil {
				return err
			}
			e, err := decode(l.head, line)
			if err != nil {
				return err
			}
			out = append(out, e)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", l.id, err)
	}
	return out, nil
}
