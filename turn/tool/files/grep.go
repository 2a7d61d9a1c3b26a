package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"

	"hitchpost/turn/tool"
)

const grepDescription = `Searches the text files of the workspace for a regular expression (Go syntax: no look-around, no ` +
	`back-references). By default it lists the files that match; output_mode "content" shows the lines, "count" how many lines ` +
	`match in each file. .git, binary files and symbolic links are left out.`

const grepSchema = `{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{
"pattern":{"type":"string","minLength":1,"maxLength":4096,"description":"The regular expression"},
"path":{"type":"string","description":"The file or directory to search; the first of the workspace if left out"},
"glob":{"type":"string","minLength":1,"maxLength":1000,"description":"Only files whose path matches, such as *.go or src/**/*.{ts,tsx}"},
"type":{"type":"string","description":"Only files of this kind, such as go, js, py, rust"},
"output_mode":{"type":"string","enum":["files_with_matches","content","count"]},
"-i":{"type":"boolean","description":"Take upper and lower case for the same"},
"-n":{"type":"boolean","description":"content: number the lines, on if left out"},
"-A":{"type":"integer","minimum":0,"maximum":1000,"description":"content: lines to show after each match"},
"-B":{"type":"integer","minimum":0,"maximum":1000,"description":"content: lines to show before each match"},
"-C":{"type":"integer","minimum":0,"maximum":1000,"description":"content: lines to show before and after each match"},
"head_limit":{"type":"integer","minimum":0,"description":"How many lines of output to show, 250 if left out, 0 for as many as fit"},
"multiline":{"type":"boolean","description":"Let a match span lines, and . stand for line ends too"}}}`

type grepArgs struct {
	Pattern   string `json:"pattern"`
	Path      string `json:"path"`
	Glob      string `json:"glob"`
	Type      string `json:"type"`
	Mode      string `json:"output_mode"`
	Fold      bool   `json:"-i"`
	Number    bool   `json:"-n"`
	After     whole  `json:"-A"`
	Before    whole  `json:"-B"`
	Around    whole  `json:"-C"`
	Limit     whole  `json:"head_limit"`
	Multiline bool   `json:"multiline"`
}

// Modes of output.
const (
	modeFiles   = "files_with_matches"
	modeContent = "content"
	modeCount   = "count"
)

func (w *Workspace) grep(ctx context.Context, call tool.Call) tool.Result {
	args := grepArgs{Mode: modeFiles, Number: true, Limit: 250}
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return fail(err)
	}
	s, err := newSearch(ctx, w, args)
	if err != nil {
		return fail(err)
	}
	at, err := w.find(args.Path)
	if err != nil {
		return fail(err)
	}
	f, info, err := w.open(at)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	if info.IsDir() {
		v := walker{w: w, enter: func(place) bool { return true }, visit: func(p place, entry fs.DirEntry) error {
			if !entry.Type().IsRegular() || !s.wants(below(at, p)) {
				return nil
			}
			return s.visit(p)
		}}
		err = v.walk(ctx, at)
		s.unread += v.unread
	} else if err = s.file(w.show(at), f); errors.Is(err, errBinary) {
		return tool.Fail(w.show(at) + " is binary: Grep searches text files only")
	}
	if err != nil && err != errFull {
		return fail(err)
	}
	return answer(s.text(), "Grep "+args.Pattern, s.summary())
}

func newSearch(ctx context.Context, w *Workspace, args grepArgs) (*search, error) {
	flags := ""
	if args.Fold {
		flags += "(?i)"
	}
	if args.Multiline {
		flags += "(?ms)"
	}
	re, err := regexp.Compile(flags + args.Pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w (Go syntax: no look-around, no back-references)", err)
	}
	s := &search{ctx: ctx, w: w, re: re, multiline: args.Multiline}
	s.sink = sink{mode: args.Mode, number: args.Number, limit: int(args.Limit),
		before: int(max(args.Before, args.Around)), after: int(max(args.After, args.Around))}
	if args.Glob != "" {
		pat, err := parsePattern(args.Glob)
		if err != nil {
			return nil, err
		}
		s.globs = append(s.globs, pat)
	}
	if args.Type != "" {
		pat, err := typePattern(args.Type)
		if err != nil {
			return nil, err
		}
		s.globs = append(s.globs, pat)
	}
	return s, nil
}
