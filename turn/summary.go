package turn

import (
	"context"
	"slices"
	"strings"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/history"
	"hitchpost/turn/model"
)

// halvings is how often a summary request that is too long itself is tried again
// over half of the turns.
const halvings = 4

const compactorPrompt = `Summarise the conversation up to here, so that it can go on from the summary alone. ` +
	`Keep what was asked and decided, what was done and what came of it, names, paths, figures and identifiers as they are, and what is still open. ` +
	`Write it in the language of the conversation, as notes to yourself. Call no tool, answer nothing, and do not follow this up.`

// summarizer asks for a summary of the history up to a seq.
type summarizer struct {
	log     *store.Log
	client  model.Client
	spec    string // provider/model
	request model.Request
	upto    int64
}

// summary is a model's summary of everything up to a seq.
type summary struct {
	text          string
	upto          int64
	shortened     bool   // upto was moved back
	before, after *int64 // tokens, see Compacted
	declined      string // why it is not to be applied
}

// summarizer prepares the request for everything that a checkpoint made now would
// stand for. It is that of a step, so that a provider's cache of the history serves
// here too.
func (a *Agent) summarizer() (*summarizer, error) {
	cfg := a.host.config()
	spec, ok := a.roleModel(RoleCompactor)
	if !ok {
		var err error
		if spec, err = a.mainModel(); err != nil {
			return nil, err
		}
	}
	client, name, err := cfg.resolve(spec)
	request := model.Request{Model: name, System: cfg.Agents[a.definition()].System, Tools: offered(cfg, a.policy())}
	return &summarizer{log: a.log, client: client, spec: spec, request: request, upto: a.checkpointAt()}, err
}

// summarize asks for the summary of the active path. A history that is too long to be
// read in one request is cut at a turn's end half way, a few times: there no call waits
// for its result. It never reaches back to the newest checkpoint of the path, so it
// reads that checkpoint's summary and all behind it.
func (s *summarizer) summarize(ctx context.Context) (summary, error) {
	path, err := history.Paths(ctx, s.log, s.upto)
	if err != nil {
		return summary{}, err
	}
	newest, found, err := path.Newest(ctx, s.log, string(event.SessionCompactedType))
	if err != nil {
		return summary{}, err
	}
	checkpoint := int64(-1)
	if found {
		checkpoint = newest.Seq
	}
	ends, err := turnEnds(ctx, s.log, path, checkpoint)
	if err != nil {
		return summary{}, err
	}
	upto := s.upto
	for try := 0; ; try++ {
		out, err := s.ask(ctx, path, found)
		out.upto, out.shortened = upto, try > 0
		if ends = ends[:len(ends)/2]; !overflow(err) || try == halvings || len(ends) == 0 {
			return out, err
		}
		upto = ends[len(ends)-1]
		path = path.Upto(upto)
	}
}

// turnEnds returns where the turns of a path ended, behind the seq after. Where a branch
// left the path a turn of it had ended, too, though its turn/end may stand aside.
func turnEnds(ctx context.Context, log *store.Log, path history.Path, after int64) (ends []int64, err error) {
	events, err := path.Structural(ctx, log, after+1, string(event.TurnEndType))
	if err != nil {
		return nil, err
	}
	for _, ev := range events {
		ends = append(ends, ev.Seq)
	}
	for _, r := range path[:max(len(path)-1, 0)] {
		if r.To > after {
			ends = append(ends, r.To)
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends), nil
}

// ask sends one request for a summary of what the model sees of the path, and judges
// the answer. compacted tells whether that begins with a summary already.
func (s *summarizer) ask(ctx context.Context, path history.Path, compacted bool) (summary, error) {
	messages, err := path.Load(ctx, s.log, s.spec)
	if err != nil {
		return summary{}, err
	}
	if len(messages) == 0 || compacted && len(messages) == 1 {
		return summary{declined: "there is nothing to summarise"}, nil
	}
	request := s.request
	request.Messages = append(messages[:len(messages):len(messages)], model.Message{Role: model.User, Text: compactorPrompt})
	reply, err := s.client.Stream(ctx, request, func(model.Delta) {})
	if err != nil {
		return summary{}, err
	}
	out := summary{text: strings.TrimSpace(reply.Text)}
	switch {
	case out.text == "":
		out.declined = "the summary is empty"
	case len(out.text) >= size(messages):
		out.declined = "the summary is no shorter than what it was to replace"
	}
	if u := reply.Usage; u != nil {
		out.before, out.after = u.PromptTokens, u.CompletionTokens
	}
	return out, nil
}

// size is the bytes of what messages say.
func size(messages []model.Message) int {
	n := 0
	for _, m := range messages {
		n += len(m.Text)
		for _, c := range m.Calls {
			n += len(c.Name) + len(c.Args)
		}
	}
	return n
}
