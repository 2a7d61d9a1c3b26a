package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/alecthomas/kong"

	"hitchpost/server/config"
)

// Program is what main hands over.
type Program struct {
	Example string // the text of config.example.toml
	Version string // "" for what the build knows
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
}

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

type commands struct {
	Config string `short:"c" placeholder:"FILE" help:"Configuration file (default: hitchpost.toml in this folder, if there is one)."`

	Serve    serveCommand    `cmd:"" help:"Run the server."`
	Chat     chatCommand     `cmd:"" help:"Talk with an agent in the terminal."`
	Send     sendCommand     `cmd:"" help:"Send a text to an agent and show its turn."`
	Tail     tailCommand     `cmd:"" help:"Print an agent's events as they come, one JSON object a line."`
	Sessions sessionsCommand `cmd:"" help:"List the sessions, the newest first."`
	Cancel   cancelCommand   `cmd:"" help:"Stop an agent's turn, also one that was left open."`
	Reload   reloadCommand   `cmd:"" help:"Have the running server read its configuration again."`
	Export   exportCommand   `cmd:"" help:"Write sessions as JSON Lines, also while the server runs."`
	Import   importCommand   `cmd:"" help:"Bring exported sessions into a database that no server has open."`
	Backup   backupCommand   `cmd:"" help:"Copy the log, also while the server runs."`
	Verify   verifyCommand   `cmd:"" help:"Check the log file, also while the server runs."`
	Doctor   doctorCommand   `cmd:"" help:"Look at everything a server would use on this machine."`
	Bench    benchCommand    `cmd:"" help:"Measure this machine with a load of its own, in ratios."`
	Token    tokenCommand    `cmd:"" help:"Make tokens."`
	Settings configCommand   `cmd:"" name:"config" help:"Check the configuration, or show every key."`
	Version  versionCommand  `cmd:"" help:"Print the version."`
}

// Main runs the command that args name and returns the exit code.
func Main(args []string, p Program) int {
	var c commands
	left := false // --help printed and wanted to exit
	parser, err := kong.New(&c,
		kong.Name("hitchpost"),
		kong.Description("Keeps long-lived AI agents, each in a log of its own."),
		kong.Writers(p.Stdout, p.Stderr),
		kong.Exit(func(int) { left = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.BindTo(context.Background(), (*context.Context)(nil)),
		kong.Bind(&p, &c),
	)
	if err != nil {
		panic(err) // the grammar above is wrong
	}
	call, err := parser.Parse(args)
	if left {
		return exitOK
	}
	if err != nil {
		return p.fail(&usageError{err})
	}
	return p.fail(call.Run())
}

// usageError is a call that cannot be carried out as it was written.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// fail prints what went wrong and gives the exit code.
func (p *Program) fail(err error) int {
	var (
		usage    *usageError
		problems *config.Error
		parse    *kong.ParseError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &problems):
		fmt.Fprintln(p.Stderr, problems)
		return exitUsage
	case errors.As(err, &parse):
		fmt.Fprintf(p.Stderr, "hitchpost: %s; see hitchpost --help\n", oneLine(parse.Error()))
		return exitUsage
	case errors.As(err, &usage):
		fmt.Fprintf(p.Stderr, "hitchpost: %s\n", oneLine(err.Error()))
		return exitUsage
	}
	fmt.Fprintf(p.Stderr, "hitchpost: %s\n", oneLine(err.Error()))
	return exitFailed
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// load reads the configuration that -c names. Not being able to is a usage error.
func (c *commands) load() (*config.Config, error) {
	cfg, err := config.Find(c.Config)
	var problems *config.Error
	if err == nil || errors.As(err, &problems) {
		return cfg, err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("there is no file %s; `hitchpost config example` prints one to start from", c.Config)
	}
	return nil, &usageError{err}
}
