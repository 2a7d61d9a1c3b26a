package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"hitchpost/server/config"
)

type tokenCommand struct {
	New tokenNewCommand `cmd:"" help:"Print a fresh token, and its hash for the configuration."`
}

type tokenNewCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run prints the token first, so that a script can take the first line.
func (t *tokenNewCommand) Run(p *Program) error {
	token := config.NewToken()
	if t.JSON {
		return p.json(map[string]string{"token": token.Reveal(), "hash": config.HashLine(token)})
	}
	fmt.Fprintln(p.Stdout, token.Reveal())
	fmt.Fprintln(p.Stdout, config.HashLine(token))
	fmt.Fprintln(p.Stderr, "The first line is the token: keep it where its user finds it. The second can stand as token = \"…\" in [[tokens]].")
	return nil
}

type configCommand struct {
	Check   configCheckCommand   `cmd:"" help:"Report every mistake in the configuration."`
	Example configExampleCommand `cmd:"" help:"Print a configuration with every key, its default and what it means."`
}

type configCheckCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// checked is the answer of config check --json.
type checked struct {
	File     string    `json:"file"` // "" without one
	OK       bool      `json:"ok"`
	Problems []problem `json:"problems"`
}

type problem struct {
	Line int    `json:"line"` // 0 when it is about no line
	Key  string `json:"key"`
	Text string `json:"text"`
}

// Run fails as serve would.
func (t *configCheckCommand) Run(p *Program, c *commands) error {
	cfg, err := c.load()
	var bad *config.Error
	if t.JSON && (err == nil || errors.As(err, &bad)) {
		answer := checked{OK: err == nil, Problems: []problem{}}
		if bad != nil {
			answer.File = bad.File
			for _, b := range bad.Problems {
				answer.Problems = append(answer.Problems, problem(b))
			}
		} else {
			answer.File = cfg.File
		}
		return errors.Join(p.json(answer), err)
	}
	if err != nil {
		return err
	}
	if cfg.File == "" {
		fmt.Fprintf(p.Stdout, "there is no %s here; the server would start with its defaults\n", config.FileName)
		return nil
	}
	fmt.Fprintf(p.Stdout, "%s is good\n", cfg.File)
	return nil
}

type configExampleCommand struct{}

func (*configExampleCommand) Run(p *Program) error {
	_, err := fmt.Fprint(p.Stdout, p.Example)
	return err
}

type versionCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

func (v *versionCommand) Run(p *Program) error {
	version, commit := p.build()
	if v.JSON {
		return p.json(map[string]string{"version": version, "commit": commit, "go": runtime.Version()})
	}
	if commit != "" {
		commit = " " + commit
	}
	fmt.Fprintf(p.Stdout, "hitchpost %s%s %s %s/%s\n", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// build tells the version that was linked in, else the module's, and the commit.
func (p *Program) build() (version, commit string) {
	version = p.Version
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, ""
	}
	if version == "" {
		version = info.Main.Version
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if version == "" {
		version = "(devel)"
	}
	if commit != "" {
		commit += dirty
	}
	return version, commit
}

func (p *Program) json(v any) error {
	enc := json.NewEncoder(p.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
