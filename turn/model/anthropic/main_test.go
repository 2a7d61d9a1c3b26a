package anthropic

import (
	"testing"

	"hitchpost/turn/model/httpstream"
	"hitchpost/turn/model/modeltest"
)

func TestMain(m *testing.M) { modeltest.Main(m) }

type scripted = modeltest.Answer

var (
	question    = modeltest.Question
	newProvider = modeltest.NewProvider
	transcript  = modeltest.Transcript
)

// client is a client of the provider that does not wait between tries.
func client(t testing.TB, p *modeltest.Provider, change func(*Config)) *Client {
	cfg := p.Config()
	if change != nil {
		change(&cfg)
	}
	c := New(cfg)
	t.Cleanup(c.Close)
	return c
}

func play(t *testing.T, prefix string) {
	modeltest.Play(t, prefix, func(cfg httpstream.Config) modeltest.Client { return New(cfg) })
}
