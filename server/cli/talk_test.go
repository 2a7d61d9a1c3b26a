package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

func TestSendStreamsTheTurnOfItsTextAndExitsByItsEnd(t *testing.T) {
	for _, c := range []struct {
		name           string
		script         func(*peer)
		code           int
		stdout, stderr string // all of stdout, and parts of stderr, "|" between
	}{
		{"completed, with a tool", func(p *peer) {
			p.hello("idle", "")
			p.subscribed()
			id := p.inject("look")
			p.event("turn/start", `{"agent":"default"}`)
			p.event("step/start", `{"n":1,"model":"demo/guide"}`)
			p.event("user/message", `{"text":"look","input_id":"`+id+`"}`)
			p.chunk("Let me ")
			p.chunk("see.")
			p.event("assistant/message", `{"parts":[{"type":"text","text":"Let me see."}]}`)
			p.event("tool/call", `{"id":"c","name":"Read","args":{"path":"go.mod"}}`)
			p.event("tool/result", `{"id":"c","content":"module hitchpost\n\ngo 1.26","error":null}`)
			p.event("step/end", `{"n":1}`)
			p.event("step/start", `{"n":2,"model":"demo/guide"}`)
			p.event("assistant/message", `{"parts":[{"type":"text","text":"Not streamed."}]}`)
			p.event("step/end", `{"n":2}`)
			p.event("turn/end", `{"status":"completed"}`)
		}, 0, "Let me see.\nNot streamed.\n", `→ Read {"path":"go.mod"}|← Read: module hitchpost … (2 lines more)`},
		{"failed", func(p *peer) {
			p.hello("idle", "")
			p.subscribed()
			id := p.inject("look")
			p.event("turn/start", `{}`)
			p.event("user/message", `{"text":"look","input_id":"`+id+`"}`)
			p.chunk("Half")
			p.event("turn/end", `{"status":"failed","error":{"code":"provider_error","message":"the model is away"}}`)
		}, 1, "Half\n", "hitchpost: failed: the model is away\n"},
		{"riding a turn under way", func(p *peer) {
			p.hello("running", "")
			p.subscribed()
			id := p.inject("look")
			p.chunk("A")
			p.event("context/injected", `{"text":"another","input_id":"other"}`)
			p.event("context/injected", `{"text":"look","input_id":"`+id+`"}`)
			p.chunk("B")
			p.event("turn/end", `{"status":"completed"}`)
		}, 0, "AB\n", ""},
		{"missing one turn and riding the next", func(p *peer) {
			p.hello("running", "")
			p.subscribed()
			id := p.inject("look")
			p.event("turn/end", `{"status":"completed"}`)
			p.event("turn/start", `{}`)
			p.event("context/injected", `{"text":"look","input_id":"`+id+`"}`)
			p.event("turn/end", `{"status":"completed"}`)
		}, 0, "", ""},
		{"an answer that the provider cut at its limit", func(p *peer) {
			p.hello("idle", "")
			p.subscribed()
			id := p.inject("look")
			p.event("turn/start", `{}`)
			p.event("user/message", `{"text":"look","input_id":"`+id+`"}`)
			p.event("assistant/message", `{"parts":[{"type":"text","text":"Here it"}],"stop":"length"}`)
			p.event("turn/end", `{"status":"completed"}`)
		}, 0, "Here it\n", "(cut off)\n"},
		{"accepted behind a cancel", func(p *peer) {
			p.hello("stopping", "")
			p.subscribed()
			id := p.inject("look")
			p.event("turn/end", `{"status":"cancelled"}`)
			p.turn(id, "Here")
		}, 0, "Here\n", ""},
		{"accepted before a cancel", func(p *peer) {
			p.hello("running", "")
			p.subscribed()
			p.inject("look")
			p.event("turn/end", `{"status":"cancelled"}`)
		}, 1, "", "waits in the inbox"},
		{"cancelled", func(p *peer) {
			p.hello("idle", "")
			p.subscribed()
			id := p.inject("look")
			p.event("turn/start", `{}`)
			p.event("user/message", `{"text":"look","input_id":"`+id+`"}`)
			p.event("turn/end", `{"status":"cancelled","reason":"lunch"}`)
		}, 1, "", "hitchpost: cancelled: lunch\n"},
		{"rejected", func(p *peer) {
			p.hello("idle", "")
			p.subscribed()
			p.inject("look")
			p.event("turn/start", `{}`)
			p.event("turn/end", `{"status":"rejected","error":{"code":"config_error","message":"no provider x"}}`)
		}, 1, "", "hitchpost: rejected: no provider x"},
		{"a resume that failed", func(p *peer) {
			p.hello("resumable", "")
			p.subscribed()
			id := p.inject("look")
			p.event("context/injected", `{"text":"look","input_id":"`+id+`"}`)
			p.event("run/diagnostic", `{"type":"resume_failed","message":"the model is away"}`)
		}, 1, "", "could not go on: the model is away"},
		{"a full inbox", func(p *peer) {
			p.hello("running", "")
			p.subscribed()
			p.inject("look")
			p.send(`{"type":"error","code":"bad_frame","message":"the inbox is full"}`)
		}, 1, "", "the inbox is full"},
		{"a token that may not inject", func(p *peer) {
			p.hello("idle", "")
			p.subscribed()
			p.inject("look")
			p.send(`{"type":"error","code":"unsupported","message":"the token may not inject"}`)
		}, 1, "", "verbs"},
		{"superseded", func(p *peer) {
			p.hello("idle", "")
			p.subscribed()
			p.inject("look")
			p.send(`{"type":"error","code":"superseded","message":"x"}`)
			p.conn.Close(websocket.StatusPolicyViolation, "")
		}, 1, "", "newer connection"},
		{"waiting for approval", func(p *peer) {
			p.hello("idle", "")
			p.subscribed()
			id := p.inject("look")
			p.event("turn/start", `{}`)
			p.event("user/message", `{"text":"look","input_id":"`+id+`"}`)
			p.event("tool/call", `{"id":"c","name":"Bash","args":{}}`)
			p.event("approval/requested", `{"call_id":"c","name":"Bash","args":{"command":"ls"}}`)
			p.event("approval/resolved", `{"call_id":"c","verdict":"denied","reason":"no"}`)
			p.event("tool/result", `{"id":"c","content":null,"error":"Bash denied: no"}`)
			p.event("turn/end", `{"status":"completed"}`)
		}, 0, "", "hitchpost chat main|Bash denied\n|✗ Bash: Bash denied: no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := call(t, nil, "send", "main", "look", "--url", socket(t, c.script), "--token", "secret-token")
			if code != c.code || stdout != c.stdout {
				t.Errorf("exit %d, stdout %q; want %d, %q\nstderr: %s", code, stdout, c.code, c.stdout, stderr)
			}
			for part := range strings.SplitSeq(c.stderr, "|") {
				if !strings.Contains(stderr, part) {
					t.Errorf("stderr does not say %q: %s", part, stderr)
				}
			}
			if strings.Contains(stderr, "secret-token") {
				t.Errorf("stderr shows the token: %s", stderr)
			}
		})
	}
}

// guarantee 4
func TestSendSurvivesARestartInMidTurn(t *testing.T) {
	var id string
	url := socket(t, func(p *peer) {
		p.hello("idle", "")
		p.subscribed()
		id = p.inject("look")
		p.event("turn/start", `{}`)
		p.event("user/message", `{"text":"look","input_id":"`+id+`"}`)
		p.chunk("One ")
		p.conn.Close(websocket.StatusGoingAway, "shutting down")
	}, func(p *peer) {
		p.hello("running", "")
		if from := p.frame("subscribe")["from_seq"]; from != float64(4) {
			t.Errorf("subscribed from %v, want 4", from)
		}
		p.chunk("two")
		p.event("turn/end", `{"status":"completed"}`)
	})
	code, stdout, stderr := call(t, nil, "send", "main", "look", "--url", url, "--token", "t")
	if code != 0 || stdout != "One two\n" || !strings.Contains(stderr, "reconnecting…") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestSendEndsWhenARestartLeftItsTurnOpen(t *testing.T) {
	url := socket(t, func(p *peer) {
		p.hello("idle", "")
		p.subscribed()
		id := p.inject("look")
		p.event("turn/start", `{}`)
		p.event("user/message", `{"text":"look","input_id":"`+id+`"}`)
		p.conn.Close(websocket.StatusGoingAway, "shutting down")
		*p.seq++ // one event more was logged
	}, func(p *peer) {
		p.hello("resumable", "")
		p.subscribed()
		*p.seq--
		p.chunk("Half")
	})
	code, stdout, stderr := call(t, nil, "send", "main", "look", "--url", url, "--token", "t")
	if code != 1 || stdout != "Half\n" || !strings.Contains(stderr, "left the turn open; the next text resumes it") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestChatResumesWithItsNextLineATurnThatARestartLeftOpen(t *testing.T) {
	url := socket(t, func(p *peer) {
		p.hello("idle", "")
		p.subscribed()
		id := p.inject("one")
		p.event("turn/start", `{}`)
		p.event("user/message", `{"text":"one","input_id":"`+id+`"}`)
		p.chunk("Half")
		p.conn.Close(websocket.StatusGoingAway, "shutting down")
	}, func(p *peer) {
		p.hello("resumable", "")
		p.subscribed()
		id := p.inject("two")
		p.event("context/injected", `{"text":"two","input_id":"`+id+`"}`)
		p.chunk("Whole")
		p.event("turn/end", `{"status":"completed"}`)
	})
	code, stdout, stderr := call(t, strings.NewReader("one\ntwo\n"), "chat", "main", "--url", url, "--token", "t")
	if code != 0 || !strings.HasPrefix(stdout, "Half\n(the server left the turn open") || !strings.HasSuffix(stdout, "Whole\n") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestSendPrintsTheEventsAsTheyCameWithJSON(t *testing.T) {
	url := socket(t, func(p *peer) {
		p.hello("idle", "")
		p.subscribed()
		p.turn(p.inject("look"), "Hi")
	})
	code, stdout, _ := call(t, nil, "send", "main", "look", "--json", "--url", url, "--token", "t")
	if code != 0 || strings.Count(stdout, "\n") != 7 || !strings.Contains(stdout, `"type":"assistant/chunk","payload":{"text":"Hi"}}`) {
		t.Errorf("exit %d, stdout %s", code, stdout)
	}
}

func TestSendNoWaitReturnsWhenTheServerHasDealtWithTheText(t *testing.T) {
	for name, c := range map[string]struct {
		script func(*peer)
		code   int
	}{
		"taken": {func(p *peer) {
			p.hello("running", "")
			p.inject("look")
			p.subscribed()
			*p.seq-- // the newest event, replayed
			p.chunk("x")
		}, 0},
		"refused": {func(p *peer) {
			p.hello("running", "")
			p.inject("look")
			p.send(`{"type":"error","code":"bad_frame","message":"the inbox is full"}`)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := call(t, nil, "send", "main", "look", "--no-wait", "--url", socket(t, c.script), "--token", "t")
			if code != c.code || stdout != "" {
				t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

func TestTailPrintsEventsFromWhereItIsTold(t *testing.T) {
	url := socket(t, func(p *peer) {
		p.hello("idle", "")
		if from := p.frame("subscribe")["from_seq"]; from != float64(1) {
			t.Errorf("subscribed from %v, want 1", from)
		}
		p.chunk("a")
		p.chunk("b")
		p.send(`{"type":"error","code":"superseded","message":"x"}`)
		p.conn.Close(websocket.StatusPolicyViolation, "")
	})
	code, stdout, stderr := call(t, nil, "tail", "main", "--from-seq", "1", "--url", url, "--token", "t")
	if code != 1 || strings.Count(stdout, "\n") != 2 || !strings.HasPrefix(stdout, `{"id":"0000000000000001"`) {
		t.Errorf("exit %d, stdout %s, stderr %s", code, stdout, stderr)
	}
}

func TestChatTalksLineByLineFromAPipe(t *testing.T) {
	url := socket(t, func(p *peer) {
		p.hello("idle", "")
		p.subscribed()
		p.turn(p.inject("one"), "First.")
		p.turn(p.inject("two"), "Second.")
	})
	code, stdout, stderr := call(t, strings.NewReader("one\n\ntwo\n"), "chat", "--url", url, "--token", "t")
	if code != 0 || stdout != "First.\nSecond.\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// guarantee 4
func TestChatSurvivesARestartInMidConversation(t *testing.T) {
	url := socket(t, func(p *peer) {
		p.hello("idle", "")
		p.subscribed()
		p.turn(p.inject("one"), "First.")
		p.inject("two") // the server dies before it is on disk
		p.conn.CloseNow()
	}, func(p *peer) {
		p.hello("idle", "")
		id := p.inject("two")
		p.subscribed()
		p.event("turn/start", `{}`)
		p.event("user/message", `{"text":"two","input_id":"`+id+`"}`)
		p.chunk("Sec")
		p.conn.Close(websocket.StatusGoingAway, "")
	}, func(p *peer) {
		p.hello("running", "")
		p.subscribed()
		p.chunk("ond.")
		p.event("turn/end", `{"status":"completed"}`)
	})
	code, stdout, stderr := call(t, strings.NewReader("one\ntwo\n"), "chat", "--url", url, "--token", "t")
	if code != 0 || stdout != "First.\nSecond.\n" || strings.Count(stderr, "reconnecting…") != 2 {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestChatAsksForApprovalsAndSendsTheVerdicts(t *testing.T) {
	url := socket(t, func(p *peer) {
		p.hello("waiting_approval", `{"call_id":"c0","name":"Edit","args":{"path":"x"}}`)
		p.subscribed()
		if got := p.frame("approve"); got["call_id"] != "c0" {
			t.Errorf("approved %v, want the call that stood already", got)
		}
		p.event("approval/resolved", `{"call_id":"c0","verdict":"approved"}`)
		p.event("approval/requested", `{"call_id":"c1","name":"Bash","args":{"command":"ls"}}`)
		p.event("approval/requested", `{"call_id":"c2","name":"Bash","args":{"command":"rm"}}`)
		if got := p.frame("deny"); got["call_id"] != "c1" || got["reason"] != nil {
			t.Errorf("denied %v, want c1 without a reason", got)
		}
		p.event("approval/resolved", `{"call_id":"c1","verdict":"denied"}`)
		if got := p.frame("deny"); got["call_id"] != "c2" || got["reason"] != "not today" {
			t.Errorf("denied %v, want c2 with the reason", got)
		}
		p.event("approval/resolved", `{"call_id":"c2","verdict":"denied","reason":"not today"}`)
		p.event("turn/end", `{"status":"completed"}`)
	})
	code, stdout, stderr := call(t, strings.NewReader("y\nn\nnot today\n"), "chat", "main", "--url", url, "--token", "t")
	if code != 0 || strings.Count(stdout, "allow it?") != 3 || !strings.Contains(stdout, `? Bash {"command":"rm"}`) {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestChatSaysWhenTheInputEndsBeforeAnApproval(t *testing.T) {
	url := socket(t, func(p *peer) {
		p.hello("waiting_approval", `{"call_id":"c0","name":"Edit","args":{}}`)
		p.subscribed()
	})
	code, _, stderr := call(t, strings.NewReader(""), "chat", "main", "--url", url, "--token", "t")
	if code != 1 || !strings.Contains(stderr, "waits for approval") {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}

func TestChatGoesOnAfterATextWasRefused(t *testing.T) {
	url := socket(t, func(p *peer) {
		p.hello("idle", "")
		p.subscribed()
		p.inject("one")
		p.send(`{"type":"error","code":"bad_frame","message":"the inbox is full"}`)
		p.turn(p.inject("two"), "Second.")
	})
	code, stdout, stderr := call(t, strings.NewReader("one\ntwo\n"), "chat", "main", "--url", url, "--token", "t")
	if code != 0 || !strings.Contains(stdout, "the inbox is full") || !strings.HasSuffix(stdout, "Second.\n") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestChatRefusesALineThatNoFrameCanCarry(t *testing.T) {
	url := socket(t, func(p *peer) { p.hello("idle", ""); p.subscribed() })
	code, _, stderr := call(t, io.LimitReader(endless{}, maxLine+1), "chat", "main", "--url", url, "--token", "t")
	if code != 1 || !strings.Contains(stderr, "1048576 bytes") {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// guarantee 5
func TestWhatAModelWroteCannotControlTheTerminal(t *testing.T) {
	if got := harmless("a\x1b[2J\rb\u009b31m\n\tc\u00e9"); got != "a\uFFFD[2J\uFFFDb\uFFFD31m\n\tc\u00e9" {
		t.Errorf("harmless = %q", got)
	}
	if got := harmless("rm \u202egpj.x\u2069"); got != "rm \uFFFDgpj.x\uFFFD" {
		t.Errorf("harmless = %q", got)
	}
	if got := short("two\nlines \x1b]0;title\a"); got != "two lines \uFFFD]0;title\uFFFD" {
		t.Errorf("short = %q", got)
	}
	if got := short(strings.Repeat("é", 500)); len([]rune(got)) != noteChars {
		t.Errorf("short leaves %d characters", len([]rune(got)))
	}
}
