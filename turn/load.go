package turn

import (
	"context"
	"fmt"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// load reads the state of a session from its log. The cost depends on the open turn,
// the waiting texts and how often a model was chosen, never on the length of the log.
func load(ctx context.Context, log *store.Log) (*state, error) {
	tip, _ := log.Tip()
	s, err := loadUpto(ctx, log, tip)
	if err == nil {
		s.inbox, err = log.Inbox(ctx)
	}
	return s, err
}

// loadUpto reads the state that the session was in at the seq upto, without the inbox.
func loadUpto(ctx context.Context, log *store.Log, upto int64) (*state, error) {
	s := &state{}
	events := []store.Event{}
	for _, kind := range []event.Type{event.PolicyUpdatedType, event.SessionTitledType, event.SessionForkedType} {
		newest, found, err := log.Newest(ctx, upto+1, string(kind))
		if err != nil {
			return nil, err
		}
		if found {
			events = append(events, newest)
		}
	}
	models, err := log.Structural(ctx, 0, upto, string(event.ModelUpdatedType))
	if err != nil {
		return nil, err
	}
	events = append(events, models...)
	last, found, err := log.Newest(ctx, upto+1, string(event.TurnStartType), string(event.TurnEndType))
	if err != nil {
		return nil, err
	}
	said, some, err := log.Newest(ctx, upto+1, string(event.UserMessageType), string(event.ContextInjectedType))
	if err != nil {
		return nil, err
	}
	if some {
		s.said = &said.At
	}
	if found && event.Type(last.Type) == event.TurnEndType {
		events = append(events, last)
	}
	if found && event.Type(last.Type) == event.TurnStartType {
		open, err := log.Structural(ctx, last.Seq, upto, foldedTypes...)
		if err != nil {
			return nil, err
		}
		events = append(events, open...)
	}
	for _, ev := range events {
		p, err := decode(ev)
		if err != nil {
			return nil, fmt.Errorf("session %q: %w", log.Session(), err)
		}
		s.apply(ev.Seq, ev.ID, ev.At, p)
	}
	s.next = upto + 1
	return s, nil
}

// lostText returns what the step had streamed up to the seq upto, when its process died
// or its log was forked: its text and its reasoning, which no message holds.
func lostText(ctx context.Context, log *store.Log, s *step, upto int64) (text, reasoning string, err error) {
	pieces, err := log.Streamed(ctx, s.seq, upto)
	if err != nil {
		return "", "", err
	}
	var texts, thoughts []byte
	for _, ev := range pieces {
		switch event.Type(ev.Type) {
		case event.AssistantChunkType:
			p, err := as[event.AssistantChunk](ev)
			if err != nil {
				return "", "", err
			}
			texts = append(texts, p.(event.AssistantChunk).Text...)
		case event.ReasoningChunkType:
			p, err := as[event.ReasoningChunk](ev)
			if err != nil {
				return "", "", err
			}
			thoughts = append(thoughts, p.(event.ReasoningChunk).Text...)
		}
	}
	return string(texts), string(thoughts), nil
}
