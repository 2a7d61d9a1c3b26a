package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hitchpost/turn/tool"
)

// list asks the server for its tools, page by page.
func (c *conn) list(ctx context.Context) ([]*sdk.Tool, error) {
	var all []*sdk.Tool
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := c.session.ListTools(ctx, params)
		switch caps := c.session.InitializeResult().Capabilities; {
		case err != nil && ctx.Err() != nil:
			return nil, fmt.Errorf("listing its tools: %w", context.Cause(ctx))
		case refused(err) && caps != nil && caps.Tools == nil:
			return nil, nil // it never said that it has any
		case err != nil:
			return nil, fmt.Errorf("listing its tools: %w", err)
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" || len(all) > maxTools {
			break
		}
		params.Cursor = page.NextCursor
	}
	return all, nil
}

var remoteName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// mount makes tools of what a server lists, sorted, by guarantees 1 and 2.
func (s *server) mount(listed []*sdk.Tool) []tool.Tool {
	var tools []tool.Tool
	taken := map[string]bool{}
	size := 0
	for _, remote := range listed {
		t, err := s.tool(remote)
		bytes := len(t.Description) + len(t.Schema)
		switch {
		case err != nil:
		case taken[t.Name]:
			err = errors.New("there is another of this name")
		case len(tools) == maxTools:
			err = fmt.Errorf("a server may have %d", maxTools)
		case size+bytes > maxRoster:
			err = fmt.Errorf("all descriptions and schemas together are above %d bytes", maxRoster)
		}
		if err != nil {
			s.output.log(slog.LevelWarn, "mcp tool is left out", "tool", remote.Name, "error", err)
			continue
		}
		taken[t.Name] = true
		size += bytes
		tools = append(tools, t)
	}
	slices.SortFunc(tools, func(a, b tool.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools
}

func (s *server) tool(remote *sdk.Tool) (tool.Tool, error) {
	name := remote.Name
	t := tool.Tool{
		Name:        "mcp__" + s.cfg.Name + "__" + name,
		Description: describe(remote),
		Mutating:    true,
		Approval:    s.cfg.Approval,
		Run: func(ctx context.Context, call tool.Call) tool.Result {
			return s.run(ctx, name, call)
		},
	}
	var err error
	if t.Schema, err = schema(remote); err != nil {
		return t, err
	}
	if !remoteName.MatchString(name) || len(t.Name) > maxName {
		return t, fmt.Errorf("its name is not of letters, digits, _, . and -, or longer than %d bytes in all", maxName)
	}
	if hints := remote.Annotations; hints != nil {
		t.Mutating, t.Parallel = !hints.ReadOnlyHint, hints.ReadOnlyHint
		t.Repeatable = hints.ReadOnlyHint || hints.IdempotentHint
	}
	return t, nil
}

// schema is the tool's schema as it came; any object for one that is no object.
func schema(remote *sdk.Tool) (json.RawMessage, error) {
	if _, ok := remote.InputSchema.(map[string]any); !ok {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	b, err := json.Marshal(remote.InputSchema)
	if err == nil && len(b) > maxSchema {
		err = fmt.Errorf("its schema has %d bytes, above %d", len(b), maxSchema)
	}
	return b, err
}

func describe(remote *sdk.Tool) string {
	text := remote.Description
	if text == "" {
		text = remote.Title
	}
	return clip(strings.ToValidUTF8(text, "\uFFFD"), maxDescription)
}

// clip cuts s to limit bytes, between two characters.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// sameTools tells whether nobody can see a difference between two sorted rosters.
func sameTools(a, b []tool.Tool) bool {
	return slices.EqualFunc(a, b, func(a, b tool.Tool) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema) &&
			a.Mutating == b.Mutating && a.Parallel == b.Parallel && a.Repeatable == b.Repeatable
	})
}
