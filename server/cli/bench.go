package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"hitchpost/server"
	"hitchpost/server/auth"
	"hitchpost/server/config"
)

type benchCommand struct {
	Dir  string `placeholder:"FOLDER" help:"Folder on the disk to measure (default: the system's temporary folder)."`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// figures are what a load test found. A ratio compares two things that were done in
// turns on the same machine, and so says more than either figure.
type figures struct {
	SyncMicros       float64 `json:"sync_micros"`        // a 4 KiB write and its fsync, median
	BatchedPerSecond float64 `json:"batched_per_second"` // events of one producer that appends 64 at a time
	AppendsPerSecond float64 `json:"appends_per_second"` // events of 64 producers, each waiting for each of its own
	AppendRatio      float64 `json:"append_ratio"`       // appends ÷ batched
	RawReplayMillis  float64 `json:"raw_replay_millis"`  // the bytes of the replay over bare TCP
	ReplayMillis     float64 `json:"replay_millis"`      // 10,000 events, from subscribe to the last one
	ReplayRatio      float64 `json:"replay_ratio"`       // replay ÷ bare TCP
	AtTipMicros      float64 `json:"at_tip_micros"`      // from dialling to hello, a session of 10,000 events
	AtTipRatio       float64 `json:"at_tip_ratio"`       // that ÷ the same for a session of 10 events
	StormPerSecond   float64 `json:"storm_per_second"`   // events that 50 clients read at once
	StormRatio       float64 `json:"storm_ratio"`        // that ÷ one client's rate
}

const (
	benchRounds  = 3      // of everything that is compared; the median counts
	benchEvents  = 10_000 // of the long session
	benchShort   = 10     // of the short one
	benchClients = 50     // of the storm
	benchStorm   = 1_000  // of each client's session there
)

// Run measures this machine with a server and a database of its own, which are gone
// afterwards.
func (b *benchCommand) Run(ctx context.Context, p *Program) (err error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	dir, err := os.MkdirTemp(b.Dir, "hitchpost-bench-*")
	if err != nil {
		return usagef("no folder to work in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cfg := config.Default()
	cfg.Listen, cfg.Database = "127.0.0.1:0", filepath.Join(dir, "bench.db")

	var f figures
	if f.SyncMicros, err = measureSync(dir); err != nil {
		return err
	}
	if err := f.measureAppends(ctx, cfg.Database); err != nil {
		return err
	}
	if err := f.measureServer(ctx, cfg); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	if b.JSON {
		return p.json(f)
	}
	return f.print(p)
}

func (f figures) print(p *Program) error {
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	row := func(what, figure string, ratio float64, to string) {
		fmt.Fprintf(w, "%s\t%s\t%.2f × %s\n", what, figure, ratio, to)
	}
	fmt.Fprintf(w, "write and fsync of 4 KiB\t%.0f µs\t\n", f.SyncMicros)
	fmt.Fprintf(w, "durable events, 64 at a time\t%.0f /s\t\n", f.BatchedPerSecond)
	row("durable events, 64 producers", fmt.Sprintf("%.0f /s", f.AppendsPerSecond), f.AppendRatio, "64 at a time")
	row("replay of 10,000 events", fmt.Sprintf("%.1f ms", f.ReplayMillis), f.ReplayRatio, "the bytes over bare TCP")
	row("hello of a session of 10,000 events", fmt.Sprintf("%.0f µs", f.AtTipMicros), f.AtTipRatio, "one of 10 events")
	row("replays to 50 clients at once", fmt.Sprintf("%.0f events/s", f.StormPerSecond), f.StormRatio, "one client")
	return w.Flush()
}

// measureServer runs a server on the database and lets clients read from it.
func (f *figures) measureServer(ctx context.Context, cfg *config.Config) error {
	secret := config.NewToken()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- server.Run(serving, server.Options{
			Config: cfg, Log: slog.New(slog.DiscardHandler),
			Tokens: []*auth.Token{auth.NewToken("bench", benchOwner, auth.DigestOf(secret.Reveal()), nil, auth.All)},
			Ready:  func(url string) { address <- url },
		})
	}()
	select {
	case err := <-ended:
		return err
	case url := <-address:
		err := f.measureReplays(ctx, url, secret.Reveal())
		stop()
		return errors.Join(err, <-ended)
	}
}

// measureSync returns the median time of a small write and its fsync, in µs.
func measureSync(dir string) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	block := make([]byte, 4096)
	var times []time.Duration
	for range 100 {
		start := time.Now()
		if _, err := f.WriteAt(block, 0); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	return micros(median(times)), nil
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
