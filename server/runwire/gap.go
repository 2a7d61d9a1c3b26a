package runwire

import (
	"context"

	"hitchpost/server/project"
	"hitchpost/store"
)

// searchStep is how many of the newest events are looked through first for one that
// makes a frame. Most do.
const searchStep = 32

// newestFrame returns the seq of the newest event in from…upto that makes a numbered
// frame, 0 if none does: where a client goes on that lagged.
func newestFrame(ctx context.Context, log *store.Log, from, upto int64) (int64, error) {
	for width := int64(searchStep); from <= upto; width *= 8 {
		start := max(from, upto-width+1)
		found, err := lastFrame(ctx, log, start, upto)
		if err != nil || found > 0 || start == from {
			return found, err
		}
		upto = start - 1 // what was looked through makes none
	}
	return 0, nil
}

// lastFrame looks through start…upto, page by page.
func lastFrame(ctx context.Context, log *store.Log, start, upto int64) (found int64, err error) {
	p, err := project.Behind(ctx, log, start-1)
	if err != nil {
		return 0, err
	}
	for seq := start; seq <= upto; {
		page, err := log.Page(ctx, seq)
		if err != nil || len(page.Lines) == 0 {
			return found, err
		}
		for _, line := range page.Lines {
			if seq > upto {
				break
			}
			ev, err := log.Decode(line)
			if err != nil {
				return 0, err
			}
			for _, f := range p.Next(ev) {
				found = max(found, f.Seq)
			}
			seq++
		}
	}
	return found, nil
}
