package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const readSchema = `{"type":"object","additionalProperties":false,"required":["file_path"],"properties":{
	"file_path":{"type":"string","minLength":1},
	"limit":{"type":"integer","minimum":1,"maximum":5000},
	"ratio":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1},
	"mode":{"enum":["content","count",3,null]},
	"todos":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"object","required":["status"],
		"properties":{"status":{"type":"string","enum":["open","done"]}}}},
	"either":{"anyOf":[{"type":"string","maxLength":3},{"type":"array","items":{"type":"string"}}]},
	"maybe":{"type":["string","null"]},
	"named":{"$ref":"#/$defs/a~1b"}},
	"$defs":{"a/b":{"type":"integer"}}}`

// Guarantee 4.
func TestEachWrongArgumentIsToldByItsNameAndWhatIsWrong(t *testing.T) {
	for args, want := range map[string]string{
		`{}`:                                         `file_path: required`,
		`{"file_path":""}`:                           `file_path: must have at least 1 characters, has 0`,
		`{"file_path":5}`:                            `file_path: must be a string, not 5`,
		`{"file_path":null}`:                         `file_path: must be a string, not null`,
		`{"file_path":"a","limit":0}`:                `limit: must be at least 1, is 0`,
		`{"file_path":"a","limit":5001}`:             `limit: must be at most 5000, is 5001`,
		`{"file_path":"a","limit":1.5}`:              `limit: must be an integer, not 1.5`,
		`{"file_path":"a","limit":"7"}`:              `limit: must be an integer, not a string`,
		`{"file_path":"a","limit":1e999999999}`:      `limit: must be at most 5000, is 1e999999999`,
		`{"file_path":"a","ratio":0}`:                `ratio: must be above 0, is 0`,
		`{"file_path":"a","ratio":1.0}`:              `ratio: must be below 1, is 1.0`,
		`{"file_path":"a","mode":"x"}`:               `mode: must be one of "content", "count", 3, null, not "x"`,
		`{"file_path":"a","path":"b"}`:               `path: unknown; the known ones are: either, file_path, limit, maybe, mode, named, ratio, todos`,
		`{"file_path":"a","FILE_PATH":"b"}`:          `FILE_PATH: unknown; the known ones are: either, file_path, limit, maybe, mode, named, ratio, todos`,
		`{"file_path":"a","todos":[]}`:               `todos: must have at least 1 items, has 0`,
		`{"file_path":"a","todos":[{},{},{}]}`:       "todos: must have at most 2 items, has 3\ntodos[0].status: required\ntodos[1].status: required\ntodos[2].status: required",
		`{"file_path":"a","todos":[{"status":"x"}]}`: `todos[0].status: must be one of "open", "done", not "x"`,
		`{"file_path":"a","either":"four"}`:          `either: fits none of the allowed forms (either: must be an array, not a string; or either: must have at most 3 characters, has 4)`,
		`{"file_path":"a","maybe":1}`:                `maybe: must be a string or null, not 1`,
		`{"file_path":"a","named":"x"}`:              `named: must be an integer, not a string`,
		`{"limit":0,"file_path":1}`:                  "file_path: must be a string, not 1\nlimit: must be at least 1, is 0",
		`[]`:                                         `arguments: must be an object, not an array`,
		`{"file_path":"a"`:                           `the arguments are not valid JSON: unexpected EOF`,
		`{"file_path":"a"} x`:                        `the arguments are not valid JSON: there is more behind the first value`,
		`{"file_path":"a"}}`:                         `the arguments are not valid JSON: there is more behind the first value`,
	} {
		err := Validate(json.RawMessage(readSchema), json.RawMessage(args))
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", args, err, want)
		}
	}
}

func TestWhatTheSchemaAllowsPasses(t *testing.T) {
	for _, args := range []string{
		`{"file_path":"a"}`, `{"file_path":"a","limit":7.0}`, `{"file_path":"a","limit":5e3}`,
		`{"file_path":"é","ratio":0.5,"mode":"count"}`, `{"file_path":"a","mode":3.0}`, `{"file_path":"a","mode":null}`,
		`{"file_path":"a","either":"abc"}`, `{"file_path":"a","either":["abcd"]}`, `{"file_path":"a","maybe":null}`,
		`{"file_path":"a","named":123456789012345678901234567890}`, `{"file_path":"x","file_path":"a"}`,
	} {
		if err := Validate(json.RawMessage(readSchema), json.RawMessage(args)); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// Guarantee 3.
func TestKeywordsOfOtherDraftsAndDialectsRefuseNothing(t *testing.T) {
	for schema, args := range map[string]string{
		`true`: `{"a":1}`,
		`{}`:   `{"a":1}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"n":{"minimum":1,"exclusiveMinimum":true}}}`: `{"n":1}`,
		`{"properties":{"p":{"type":"string","pattern":"^(?!x)a","format":"uri"}}}`:                                                      `{"p":"x"}`,
		`{"properties":{"p":{"type":"string","nullable":true}}}`:                                                                         `{"p":null}`,
		`{"properties":{"p":{"type":"file"}}}`:                                                                                           `{"p":1}`,
		`{"properties":{"p":{"$ref":"https://example.com/other.json"}}}`:                                                                 `{"p":1}`,
		`{"properties":{"p":{"$ref":"#/$defs/missing"}}}`:                                                                                `{"p":1}`,
		`{"patternProperties":{"^x-":{}},"additionalProperties":false}`:                                                                  `{"x-1":1}`,
		`{"properties":{"t":{"items":[{"type":"string"}],"prefixItems":[{"type":"string"}]}}}`:                                           `{"t":["a",1]}`,
		`{"oneOf":[{"properties":{"a":{"pattern":"^x"}}},{"properties":{"a":{"pattern":"^y"}}}]}`:                                        `{"a":"y"}`,
		`{"properties":{"n":{"exclusiveMinimum":9007199254740992}}}`:                                                                     `{"n":9007199254740993}`,
		`{"properties":{"e":{"enum":[{"a":[1,"x",true]}]}}}`:                                                                             `{"e":{"a":[1.0,"x",true]}}`,
	} {
		if err := Validate(json.RawMessage(schema), json.RawMessage(args)); err != nil {
			t.Errorf("%s against %s: %v", args, schema, err)
		}
	}
}

// Guarantee 3.
func TestASchemaThatRefersToItselfEnds(t *testing.T) {
	for schema, passes := range map[string]bool{
		`{"$ref":"#"}`:                             true,
		`{"allOf":[{"$ref":"#"}]}`:                 true,
		`{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`:    true,
		`{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`:    false, // doubles at each hop: too large to check
		`{"additionalProperties":{"$ref":"#"}}`:    true,
		`{"items":{"$ref":"#"},"type":["object"]}`: true,
	} {
		err := Validate(json.RawMessage(schema), json.RawMessage(`{"a":{"b":[{}]}}`))
		if (err == nil) != passes {
			t.Errorf("%s: %v, want passes = %v", schema, err, passes)
		}
	}
}

// Guarantee 2; bug of the kind where an empty argument wedges the session.
func TestArgumentsThatAreNoObjectAreToldAndNothingCountsAsEmpty(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 10_001) + "1" + strings.Repeat("}", 10_001)
	for args, want := range map[string]string{
		"": "{}", "null": "{}", " \n": "{}", `{"n":9007199254740993}`: `{"n":9007199254740993}`,
		"[]":   "error: the arguments must be a JSON object, not an array",
		`"x"`:  "error: the arguments must be a JSON object, not a string",
		"true": "error: the arguments must be a JSON object, not a boolean",
		"7":    "error: the arguments must be a JSON object, not a number",
		"{":    "error: the arguments are not valid JSON: unexpected EOF",
		deep:   "error: the arguments are not valid JSON: invalid character '{' exceeded max depth",
	} {
		got, err := Object(json.RawMessage(args))
		if err != nil {
			got = json.RawMessage("error: " + err.Error())
		}
		if string(got) != want {
			t.Errorf("%.40q: %s, want %s", args, got, want)
		}
	}
}

func TestAMessageStaysReadableWhateverTheModelWrote(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf(`"%s%d":1`, long[:2000], i)
	}
	for _, args := range []string{
		`{"file_path":"a","mode":"` + long + `"}`,
		`{"file_path":"a","limit":` + strings.Repeat("9", 1<<20) + `}`,
		`{` + strings.Join(many, ",") + `}`,
	} {
		err := Validate(json.RawMessage(readSchema), json.RawMessage(args))
		if err == nil || len(err.Error()) > 4000 {
			t.Errorf("%.60s…: a message of %d bytes", args, len(fmt.Sprint(err)))
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add(readSchema, `{"file_path":"a","todos":[{"status":"x"}]}`)
	f.Add(`{"$ref":"#"}`, `{}`)
	f.Add(`{"anyOf":[{"$ref":"#/anyOf/0"},{"type":"null"}]}`, `1e400`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		err := Validate(json.RawMessage(schema), json.RawMessage(args)) // comes back
		if err == nil && !(json.Valid([]byte(schema)) && json.Valid([]byte(args))) {
			t.Errorf("Validate(%q, %q) passes", schema, args)
		}
	})
}
