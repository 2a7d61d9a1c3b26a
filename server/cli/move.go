package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"

	"hitchpost/server/sessions"
	"hitchpost/store"
	"hitchpost/turn/event"
)

type exportCommand struct {
	Agents []string `arg:"" optional:"" name:"agent" help:"Agents to export (default: all)."`
	Output string   `short:"o" placeholder:"FILE" help:"File to write; it must not exist (default: standard output)."`
}

// Run writes sessions as JSON Lines, also beside a running server.
func (e *exportCommand) Run(ctx context.Context, p *Program, c *commands) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	if e.Output == "" {
		return e.write(ctx, p, cfg.Database, p.Stdout)
	}
	f, err := os.OpenFile(e.Output, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return usagef("%s exists already; name a new file", e.Output)
	}
	if err != nil {
		return err
	}
	err = errors.Join(e.write(ctx, p, cfg.Database, f), f.Sync(), f.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(e.Output)) // a part of an export is none
	}
	return err
}

func (e *exportCommand) write(ctx context.Context, p *Program, database string, to io.Writer) error {
	bar := p.progress(-1, "export")
	defer bar.Clear()
	w := bufio.NewWriterSize(io.MultiWriter(to, bar), 64<<10)
	if err := store.ExportFile(ctx, database, w, e.Agents...); err != nil {
		return err
	}
	return w.Flush()
}

type importCommand struct {
	File  string `arg:"" optional:"" help:"File that export wrote (default: standard input)."`
	Owner string `help:"Whose the sessions become (default: as the export says)."`
}

// Run brings sessions into the database of this configuration, which no server may
// have open: a session comes whole or not at all.
func (i *importCommand) Run(ctx context.Context, p *Program, c *commands) (err error) {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	from, size := p.Stdin, int64(-1)
	if i.File != "" {
		f, err := os.Open(i.File)
		if err != nil {
			return &usageError{err}
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			size = info.Size()
		}
		from = f
	}
	st, err := store.Open(ctx, cfg.Database, store.Options{SearchText: event.SearchText})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	bar := p.progress(size, "import")
	done, err := st.Import(ctx, io.TeeReader(from, bar), store.ImportOptions{
		Owner: i.Owner, Streamed: func(typ string) bool { return event.Type(typ).Streamed() }, CheckID: checkID,
		First: string(event.SessionCreatedType), // a cursor of 0 means "nothing yet"
	})
	bar.Clear()
	for _, id := range done.Sessions {
		fmt.Fprintf(p.Stderr, "%s is in %s\n", id, cfg.Database)
	}
	return err
}

// checkID refuses a session that no address of the server could name.
func checkID(id string) error {
	if !sessions.ValidID(id) {
		return fmt.Errorf("session id %.140q; an id is %s", id, sessions.IDRule)
	}
	return nil
}

// progress shows bytes on the terminal, and nothing where stderr is none. A size of -1 is unknown.
func (p *Program) progress(size int64, what string) *progressbar.ProgressBar {
	return progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(p.Stderr), progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true), progressbar.OptionSetVisibility(isTerminal(p.Stderr)))
}
