package event

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// guarantee 1, here and in every other package of the module but tests.
func TestTheLiteralOfATypeStandsOnce(t *testing.T) {
	source, err := os.ReadFile("type.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`= "([a-z]+/[a-z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(names) < 20 {
		t.Fatalf("%d types found", len(names))
	}
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n[1]] {
			t.Errorf("%s stands twice", n[1])
		}
		seen[n[1]] = true
	}
	for _, file := range []string{"payload.go", "encode.go", "code.go"} {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && seen[strings.Trim(lit.Value, `"`)] {
				t.Errorf("%s holds the literal %s", file, lit.Value)
			}
			return true
		})
	}
}

// guarantee 4, bug report A24
func TestAPayloadKeepsItsTextAndItsDigits(t *testing.T) {
	for text, want := range map[string]string{
		"a<b && c>d":     `{"text":"a<b && c>d"}`,
		"a\xffb":         `{"text":"a` + "\uFFFD" + `b"}`,
		"nul \x00":       `{"text":"nul \u0000"}`,
		"日本 e\u0301 👩‍👩": `{"text":"日本 e` + "\u0301" + ` 👩‍👩"}`,
	} {
		got, err := Encode(AssistantChunk{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if text == "a\xffb" { // as the replacement character or as its escape: the same text
			var back AssistantChunk
			if err := json.Unmarshal(got, &back); err != nil || back.Text != "a\uFFFDb" {
				t.Errorf("%q became %s", text, got)
			}
			continue
		}
		if string(got) != want {
			t.Errorf("%q became %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"\u2028\u2029\u0085", "\u202e", "\r\n\t", "\x7f"} {
		got, err := Encode(UserMessage{Text: text})
		var back UserMessage
		if err != nil || json.Unmarshal(got, &back) != nil || back.Text != text {
			t.Errorf("%q came back as %q", text, back.Text)
		}
	}
	args := json.RawMessage(`{"n":1.0,"big":12345678901234567890,"s":"<&>"}`)
	got, err := Encode(ToolCall{ID: "c1", Name: "x", Args: args})
	if err != nil || string(got) != `{"id":"c1","name":"x","args":`+string(args)+`}` {
		t.Errorf("%s %v", got, err)
	}
}

// guarantee 4: raw JSON that is none is refused, so nothing half-written is appended.
func TestRawJSONThatIsNoneIsRefusedByName(t *testing.T) {
	if _, err := Encode(ToolResult{ID: "c1", Content: json.RawMessage("{")}); err == nil || !strings.Contains(err.Error(), string(ToolResultType)) {
		t.Errorf("error %v", err)
	}
}

// Members that the protocol always has are there, null or not; those that may be absent are.
func TestMembersAreNullOrAbsentAsTheProtocolSays(t *testing.T) {
	reason := ""
	for want, p := range map[string]Payload{
		`{"parent_id":null}`:                     SessionCreated{},
		`{"id":"c","content":null,"error":null}`: ToolResult{ID: "c"},
		`{"parts":[]}`:                           AssistantMessage{Parts: []Part{}},
		`{"status":"cancelled"}`:                 TurnEnd{Status: Cancelled},
		`{"status":"cancelled","reason":""}`:     TurnEnd{Status: Cancelled, Reason: &reason},
		`{"n":1}`:                                StepEnd{N: 1},
		`{"call_id":"c","verdict":"denied"}`:     ApprovalResolved{CallID: "c", Verdict: Denied},
		`{"prompt_tokens":null,"completion_tokens":null,"cost":null}`: nil,
	} {
		if p == nil {
			if got, err := json.Marshal(Usage{}); err != nil || string(got) != want {
				t.Errorf("usage is %s", got)
			}
			continue
		}
		if got, err := Encode(p); err != nil || string(got) != want {
			t.Errorf("%T is %s, want %s", p, got, want)
		}
	}
}

// guarantee 5
func TestTheIDsOfAStepsTextsAreFixedFunctionsOfTheStep(t *testing.T) {
	id := regexp.MustCompile(`^[0-9a-f]{16}$`)
	const step = "5f2c9a01d4e7b386"
	if MessageID(step) == ReasoningID(step) || MessageID(step) == MessageID("5f2c9a01d4e7b387") {
		t.Error("ids do not depend on the step and on what they are for")
	}
	for _, made := range []string{MessageID(step), ReasoningID(step), NewID()} {
		if !id.MatchString(made) {
			t.Errorf("%q is no id", made)
		}
	}
	if got := MessageID(step); got != "ca5c8a3b8c017420" {
		t.Errorf("the id of the message of %s is %s now: logs that are there would not match", step, got)
	}
}
