// Command drive builds hitchpost, starts it on a free port of this machine with a
// scripted model server, and drives it through real sockets:
//
//	go run ./scripts/drive [-race] storm    20 clients drop and come back during a turn of 5,000 chunks
//	go run ./scripts/drive [-race] lagged   one of ten clients stops reading
//	go run ./scripts/drive idle             1,000 idle subscribed connections, and what each costs
//
// It prints what it saw and fails if that is not what was promised.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	race := flag.Bool("race", false, "build the server with the race detector")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := run(ctx, flag.Arg(0), *race); err != nil {
		fmt.Fprintln(os.Stderr, "drive:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, what string, race bool) (err error) {
	drives := map[string]func(context.Context, *server) error{"storm": storm, "lagged": lagged, "idle": idle}
	drive, ok := drives[what]
	if !ok {
		return fmt.Errorf("no drive %q; there are storm, lagged, idle", what)
	}
	s, err := start(ctx, race)
	if err != nil {
		return err
	}
	defer func() {
		if stopped := s.stop(); err == nil {
			err = stopped
		}
	}()
	return drive(ctx, s)
}
