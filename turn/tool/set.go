package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"hitchpost/turn/tool/policy"
)

// Set is the tools of a server, by name. It does not change once made.
type Set struct {
	byName map[string]*Tool
	names  []string // sorted
}

// NewSet gathers the tools. The error names every tool that cannot be in a set, and
// why: no or a doubled name, no Run, an approval that is none of the three, a schema
// that is no JSON object.
func NewSet(tools []Tool) (*Set, error) {
	s := &Set{byName: make(map[string]*Tool, len(tools))}
	var faults []error
	for _, t := range tools {
		if err := t.fault(); err != nil {
			faults = append(faults, fmt.Errorf("tool %q: %w", t.Name, err))
			continue
		}
		if _, taken := s.byName[t.Name]; taken {
			faults = append(faults, fmt.Errorf("tool %q: there are two of this name", t.Name))
			continue
		}
		s.byName[t.Name] = &t
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	s.names = slices.Sorted(maps.Keys(s.byName))
	return s, nil
}

func (t *Tool) fault() error {
	var schema map[string]json.RawMessage
	switch {
	case t.Name == "":
		return errors.New("it has no name")
	case t.Run == nil:
		return errors.New("it cannot run")
	case t.Approval != Never && t.Approval != ByPolicy && t.Approval != Always:
		return fmt.Errorf("approval %q is none of never, policy, always", t.Approval)
	case json.Unmarshal(t.Schema, &schema) != nil || schema == nil:
		return errors.New("its schema is no JSON object")
	}
	return nil
}

// Lookup finds a tool by its exact name.
func (s *Set) Lookup(name string) (*Tool, bool) {
	t, ok := s.byName[name]
	return t, ok
}

// Names are all names, sorted.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Offer is the tools that the allow list admits, sorted by name: what a request
// shows the model. It is no check; each call is checked again when it is made.
func (s *Set) Offer(patterns []string) []*Tool {
	var offered []*Tool
	for _, name := range s.names {
		if policy.Allows(patterns, name) {
			offered = append(offered, s.byName[name])
		}
	}
	return offered
}
