package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hitchpost/turn/event"
)

// Status is what an agent is doing, as clients are told it.
type Status string

const (
	Idle      Status = "idle"
	Running   Status = "running"
	Waiting   Status = "waiting_approval"
	Stopping  Status = "stopping"  // a cancel was accepted, the turn has yet to close
	Resumable Status = "resumable" // a turn is open, nobody runs it, no call stands
)

// Pending is a standing approval.
type Pending struct {
	CallID string          `json:"call_id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	At     time.Time       `json:"-"` // when it was asked for
}

// State is what a client is told when it connects.
type State struct {
	Status  Status
	Pending []Pending
}

// State returns what the agent is doing now.
func (a *Agent) State(ctx context.Context) (State, error) {
	var out State
	err := a.do(ctx, func() error {
		out = State{Status: a.status(), Pending: []Pending{}}
		for _, c := range a.allStanding() {
			out.Pending = append(out.Pending, c.pending())
		}
		return nil
	})
	if err != nil {
		return State{}, err
	}
	return out, nil
}

func (a *Agent) status() Status {
	switch {
	case a.st.turn == nil:
		return Idle
	case a.cancel != nil:
		return Stopping
	case len(a.allStanding()) > 0:
		return Waiting
	case !a.running:
		return Resumable
	default:
		return Running
	}
}

// maxName bounds a role and a model, in characters.
const maxName = 256

// SetModel repoints a role of this agent, durably, from the next step on. The
// model is provider/model; the model's part may hold slashes. An *InvalidError
// says what is wrong with it.
func (a *Agent) SetModel(ctx context.Context, role, spec string) error {
	return a.SetModels(ctx, map[string]string{role: spec})
}

// SetModels is SetModel of several roles: all of them or, when one makes no sense, none.
func (a *Agent) SetModels(ctx context.Context, models map[string]string) error {
	roles := slices.Sorted(maps.Keys(models))
	for _, role := range roles {
		switch {
		case role == "":
			return &InvalidError{"role must not be empty"}
		case utf8.RuneCountInString(role) > maxName || utf8.RuneCountInString(models[role]) > maxName:
			return &InvalidError{fmt.Sprintf("role and model have at most %d characters", maxName)}
		}
	}
	return a.do(ctx, func() error {
		for _, role := range roles {
			if _, _, err := a.host.config().resolve(models[role]); err != nil {
				return err
			}
		}
		for _, role := range roles {
			a.emit(event.ModelUpdated{Role: role, Model: models[role]})
		}
		return nil
	})
}

// SetPolicy replaces the allow list, from the very next call on. by names who did
// it, "" for the agent socket.
func (a *Agent) SetPolicy(ctx context.Context, patterns []string, by string) error {
	return a.do(ctx, func() error {
		a.emit(event.PolicyUpdated{Patterns: append([]string{}, patterns...), By: by})
		return nil
	})
}

// policy returns the patterns in force: the session's own, else the floor.
func (a *Agent) policy() []string {
	if a.st.policy != nil {
		return a.st.policy
	}
	return a.host.config().floor(a.definition())
}

// roleModel finds the provider/model of a role: the agent's own choice, else its definition's.
func (a *Agent) roleModel(role string) (spec string, ok bool) {
	return a.roleModelOf(a.definition(), role)
}

func (a *Agent) roleModelOf(def, role string) (spec string, ok bool) {
	if spec, ok = a.st.models[role]; !ok {
		spec, ok = a.host.config().Agents[def].Models[role]
	}
	return spec, ok
}

// mainModel resolves the role that answers.
func (a *Agent) mainModel() (spec string, err error) { return a.modelOf(a.definition()) }

// modelOf resolves it for a turn of that definition.
func (a *Agent) modelOf(def string) (spec string, err error) {
	if err := a.host.config().defined(def); err != nil {
		return "", err
	}
	spec, ok := a.roleModelOf(def, RoleMain)
	if !ok {
		return "", &InvalidError{fmt.Sprintf("agent definition %q has no model for the role %s; set agents.%s.models.%s", def, RoleMain, def, RoleMain)}
	}
	_, _, err = a.host.config().resolve(spec)
	return spec, err
}

// splitSpec cuts provider/model.
func splitSpec(spec string) (provider, name string, ok bool) {
	provider, name, ok = strings.Cut(spec, "/")
	return provider, name, ok && provider != "" && name != ""
}

func known[V any](m map[string]V) string {
	if len(m) == 0 {
		return "none is configured"
	}
	return "configured: " + strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}
