package tool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func named(name string) Tool {
	return Tool{
		Name: name, Approval: Never, Schema: json.RawMessage(`{"type":"object"}`),
		Run: func(context.Context, Call) Result { return Text(name) },
	}
}

func names(tools []*Tool) (all []string) {
	for _, t := range tools {
		all = append(all, t.Name)
	}
	return all
}

// Guarantee 1.
func TestASetOffersWhatTheAllowListAdmitsSortedByName(t *testing.T) {
	s, err := NewSet([]Tool{named("mcp__b__y"), named("Read"), named("Bash"), named("mcp__a__x")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ patterns, want []string }{
		{nil, nil},
		{[]string{"*"}, s.Names()},
		{[]string{"mcp__*", "Read"}, []string{"Read", "mcp__a__x", "mcp__b__y"}},
		{[]string{"read"}, nil},
	} {
		if got := names(s.Offer(c.patterns)); !slices.Equal(got, c.want) {
			t.Errorf("Offer(%q) = %q, want %q", c.patterns, got, c.want)
		}
	}
	if got, ok := s.Lookup("Read"); !ok || got.Name != "Read" {
		t.Error("Read is not found")
	}
	if _, ok := s.Lookup("read"); ok {
		t.Error("read is found, and names are case-sensitive")
	}
}

func TestASetRefusesEveryFaultyToolByName(t *testing.T) {
	noRun, badSchema, nullSchema, badApproval := named("NoRun"), named("BadSchema"), named("NullSchema"), named("Shy")
	noRun.Run, badSchema.Schema, nullSchema.Schema, badApproval.Approval = nil, json.RawMessage("[]"), json.RawMessage("null"), "sometimes"
	_, err := NewSet([]Tool{named("Read"), named("Read"), named(""), noRun, badSchema, nullSchema, badApproval})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`tool "Read": there are two of this name`, `tool "": it has no name`, `tool "NoRun": it cannot run`,
		`tool "BadSchema": its schema is no JSON object`, `tool "NullSchema": its schema is no JSON object`,
		`tool "Shy": approval "sometimes" is none of never, policy, always`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %s", err, want)
		}
	}
}
