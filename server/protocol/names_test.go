package protocol

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// name is a string constant as it stands in the source.
type name struct{ ident, typ, value string }

// names returns the string constants of a directory that are declared by a literal.
func names(t *testing.T, dir string) (out []name) {
	t.Helper()
	for _, f := range sources(t, dir) {
		for _, d := range f.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				continue
			}
			for _, spec := range gen.Specs {
				v := spec.(*ast.ValueSpec)
				typ, _ := v.Type.(*ast.Ident)
				lit, ok := v.Values[0].(*ast.BasicLit)
				if typ == nil || !ok || lit.Kind != token.STRING {
					continue
				}
				value, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, name{v.Names[0].Name, typ.Name, value})
			}
		}
	}
	return out
}

// sources parses the Go files of a directory and those below it; tests and the
// generator, which knows no name of the wire, are left out.
func sources(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.Name() == "tsgen" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(positions, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var positions = token.NewFileSet()

const eventDir = "../../turn/event"

// guarantee 1
func TestLoopAndTransportCodesShareOneNamespaceWithoutCollision(t *testing.T) {
	var loop, transport []string
	for _, n := range names(t, eventDir) {
		if n.typ == "Code" {
			loop = append(loop, n.value)
		}
	}
	for _, n := range names(t, ".") {
		if n.typ == "Code" {
			transport = append(transport, n.value)
		}
	}
	all := slices.Concat(loop, transport)
	slices.Sort(all)
	want := strings.Fields(`
		unknown max_turns_exceeded model_behavior model_refusal user_error tool_timeout tool_loop tool_panic
		guardrail_tripwire sandbox_exec mcp provider_error context_overflow
		session_busy session_not_found run_not_found approval_failed config_error persist_error stream_error
		resume_error internal bad_frame forbidden`)
	slices.Sort(want)
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("codes, each once (-want +got):\n%s", diff)
	}
}

// guarantee 1
func TestNoNameOfTheWireIsDeclaredTwice(t *testing.T) {
	seen := map[name]string{}
	for _, n := range names(t, ".") {
		key := name{typ: n.typ, value: n.value}
		if n.typ == "ServerType" || n.typ == "ClientType" {
			key.typ = "a frame's type"
		}
		if other := seen[key]; other != "" {
			t.Errorf("%s %q is both %s and %s", key.typ, key.value, other, n.ident)
		}
		seen[key] = n.ident
	}
}

// guarantee 1: packages that speak the run wire use the constants.
func TestNoLiteralOfATypeOrCodeStandsOutsideItsDeclaration(t *testing.T) {
	declared := map[string]string{}
	for _, dir := range []string{".", eventDir} {
		for _, n := range names(t, dir) {
			switch n.typ {
			case "ServerType", "ClientType", "Code", "Type":
				declared[n.value] = n.ident
			}
		}
	}
	if len(declared) < 60 {
		t.Fatalf("only %d names found", len(declared))
	}
	for _, dir := range []string{".", "../project", "../runwire", "../rest"} {
		if found, _ := filepath.Glob(dir); found == nil {
			continue
		}
		for _, f := range sources(t, dir) {
			ast.Inspect(f, func(n ast.Node) bool {
				if gen, ok := n.(*ast.GenDecl); ok && gen.Tok == token.CONST {
					return false
				}
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				value, _ := strconv.Unquote(lit.Value)
				if ident := declared[value]; ident != "" {
					t.Errorf("%s: literal %s, use the constant %s", positions.Position(lit.Pos()), lit.Value, ident)
				}
				return true
			})
		}
	}
}

// guarantee 2
func TestEachFrameTypeHasOnePayloadThatSaysWhenItIsSent(t *testing.T) {
	payloads := map[string]int{}
	docs := map[string]string{}
	for _, f := range sources(t, ".") {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && strings.HasSuffix(d.Name.Name, "Type") {
					constant := d.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.Ident).Name
					payloads[constant]++
					if doc := docs[d.Recv.List[0].Type.(*ast.Ident).Name]; d.Name.Name == "ServerType" && !strings.Contains(doc, "is sent") {
						t.Errorf("the payload of %s does not say when it is sent: %q", constant, doc)
					}
				}
			case *ast.GenDecl:
				if spec, ok := d.Specs[0].(*ast.TypeSpec); ok {
					docs[spec.Name.Name] = d.Doc.Text()
				}
			}
		}
	}
	for _, n := range names(t, ".") {
		isFrame := n.typ == "ServerType" || n.typ == "ClientType" && n.value != string(TypeAuth)
		if isFrame && payloads[n.ident] != 1 {
			t.Errorf("%s has %d payload structs", n.ident, payloads[n.ident])
		}
	}
}
