package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// Digest is what lists tell of a session: a function of its log alone. It is stored
// beside the session, in the append that changed it, so that nobody reads a log for it.
type Digest struct {
	RunID   string       `json:"run,omitempty"`      // of the open turn
	Pending []Pending    `json:"pending,omitempty"`  // the calls that stand, in call order
	Error   *event.Error `json:"error,omitempty"`    // of the newest turn, when it failed or was rejected
	InputAt *time.Time   `json:"input_at,omitempty"` // of the newest text by a person that a turn took

	ForkedFrom string `json:"forked_from,omitempty"` // the session that it was copied from, which may be gone
}

// storedPending is a standing call in the stored digest.
type storedPending struct {
	Pending
	At time.Time `json:"at"`
}

// digestMembers has the members of Digest and not its methods.
type digestMembers Digest

type storedDigest struct {
	digestMembers
	Pending []storedPending `json:"pending,omitempty"`
}

// MarshalJSON writes the calls with the times they were asked at.
func (d Digest) MarshalJSON() ([]byte, error) {
	out := storedDigest{digestMembers: digestMembers(d)}
	for _, p := range d.Pending {
		out.Pending = append(out.Pending, storedPending{p, p.At})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(out)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Digest) UnmarshalJSON(text []byte) error {
	var in storedDigest
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*d = Digest(in.digestMembers)
	d.Pending = nil
	for _, p := range in.Pending {
		p.Pending.At = p.At
		d.Pending = append(d.Pending, p.Pending)
	}
	return nil
}

// digest is what the fold says of the session. Whether approvals are switched on is
// not in the log, so a call that stands is there either way.
func (s *state) digest() Digest {
	d := Digest{Error: s.failed, InputAt: s.said, ForkedFrom: s.forked}
	if s.turn == nil {
		return d
	}
	d.RunID = s.turn.id
	if s.turn.step != nil {
		for _, c := range s.turn.step.calls {
			if c.stands() {
				d.Pending = append(d.Pending, c.pending())
			}
		}
	}
	return d
}

func (c *call) pending() Pending {
	return Pending{CallID: c.ID, Name: c.Name, Args: c.Args, At: *c.asked}
}

// ReadDigest returns the stored digest of a session's row; the log is folded where it
// has none that can be read, as in a file from before there were digests.
func ReadDigest(ctx context.Context, st *store.Store, x store.Session) (Digest, error) {
	var d Digest
	if x.Digest != nil && json.Unmarshal(x.Digest, &d) == nil {
		return d, nil
	}
	log, err := st.OpenLog(ctx, x.ID)
	if err != nil {
		return Digest{}, err
	}
	defer log.Close()
	s, err := load(ctx, log)
	if err != nil {
		return Digest{}, err
	}
	return s.digest(), nil
}

// digested gives the batch the digest if its events have changed it.
func (a *Agent) digested(w *work) {
	if !w.structural {
		return
	}
	d, err := a.st.digest().MarshalJSON() // as it is: Marshal would escape it for HTML
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("encode the digest: %w", err)
	}
	if !bytes.Equal(d, a.digest) {
		w.Digest, a.digest = d, d
	}
}
