package main

import (
	"fmt"
	"go/constant"
	"go/types"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// union is a table from the constants of an enumeration to the structs that a method
// ties to them.
type union struct{ method, enum, name, doc string }

var unions = []union{
	{"ServerType", "ServerType", "ServerPayloads", "What each frame from the server holds."},
	{"ClientType", "ClientType", "ClientPayloads", "What each frame to the server holds."},
	{"EventType", "EventType", "EventPayloads", "What each event of the log holds."},
}

// name is the TypeScript name of a declaration: that of Go, behind "Event" where it comes
// from turn/event and server/protocol has no alias of it.
func (g *generator) name(o types.Object) string {
	if o.Pkg() == g.protocol {
		return o.Name()
	}
	if alias, ok := g.protocol.Scope().Lookup(o.Name()).(*types.TypeName); ok && alias.IsAlias() {
		return o.Name()
	}
	return "Event" + o.Name()
}

func (g *generator) write(w io.Writer, d decl) {
	switch o := d.obj.(type) {
	case *types.Const:
		writeDoc(w, "", d.doc)
		fmt.Fprintf(w, "export const %s = %s;\n", g.name(o), quoted(o))
	case *types.TypeName:
		if !o.Exported() || o.IsAlias() {
			return
		}
		switch t := o.Type().Underlying().(type) {
		case *types.Basic:
			g.writeEnum(w, o, d.doc)
		case *types.Struct:
			writeDoc(w, "\n", d.doc)
			fmt.Fprintf(w, "export interface %s {\n", g.name(o))
			g.writeMembers(w, t, d.fields)
			fmt.Fprint(w, "}\n")
		case *types.Interface:
			g.writeSealed(w, d, t)
		}
	}
}

func (g *generator) writeEnum(w io.Writer, o *types.TypeName, doc string) {
	consts := g.consts[o]
	if len(consts) == 0 {
		return
	}
	name, key := g.name(o), keys(consts)
	writeDoc(w, "\n", doc)
	fmt.Fprintf(w, "export const %s = {\n", name)
	seen := map[string]bool{}
	for _, c := range consts {
		value := quoted(c.obj.(*types.Const))
		if seen[value] {
			continue // another name for the same meaning
		}
		seen[value] = true
		writeDoc(w, "  ", c.doc)
		fmt.Fprintf(w, "  %s: %s,\n", key(c.obj.Name()), value)
	}
	fmt.Fprintf(w, "} as const;\nexport type %s = (typeof %s)[keyof typeof %s];\n", name, name, name)
}

// keys returns how the constants of an enumeration are called inside it: without the
// words that all of them begin with, or the name of the enumeration that all end with.
func keys(consts []decl) func(string) string {
	first := consts[0].obj.Name()
	before, after := 0, types.Unalias(consts[0].obj.Type()).(*types.Named).Obj().Name()
	for i := range first {
		if allUpperAt(consts, i) && sharePrefix(consts, first[:i]) {
			before = i
		}
	}
	for _, c := range consts {
		if !strings.HasSuffix(c.obj.Name(), after) {
			after = ""
		}
	}
	return func(name string) string { return strings.TrimSuffix(name[before:], after) }
}

func sharePrefix(consts []decl, prefix string) bool {
	for _, c := range consts {
		if !strings.HasPrefix(c.obj.Name(), prefix) {
			return false
		}
	}
	return true
}

func allUpperAt(consts []decl, i int) bool {
	for _, c := range consts {
		if name := c.obj.Name(); i >= len(name) || !unicode.IsUpper(rune(name[i])) {
			return false
		}
	}
	return true
}

// writeSealed writes an interface with an unexported method as the union of the structs
// that have it.
func (g *generator) writeSealed(w io.Writer, d decl, t *types.Interface) {
	if t.NumMethods() != 1 || t.Method(0).Exported() {
		return
	}
	var members []string
	for _, other := range g.decls {
		if _, ok := other.obj.Type().Underlying().(*types.Struct); ok && types.Implements(other.obj.Type(), t) {
			members = append(members, g.name(other.obj))
		}
	}
	writeDoc(w, "\n", d.doc)
	fmt.Fprintf(w, "export type %s =\n  | %s;\n", g.name(d.obj), strings.Join(members, "\n  | "))
}

func (g *generator) writeMembers(w io.Writer, t *types.Struct, comments map[string]string) {
	for i := range t.NumFields() {
		f := t.Field(i)
		if f.Embedded() {
			g.writeMembers(w, f.Type().Underlying().(*types.Struct), nil)
			continue
		}
		name, optional := member(t, i)
		writeDoc(w, "  ", comments[f.Name()])
		if optional {
			name += "?"
		}
		fmt.Fprintf(w, "  %s: %s;\n", name, g.memberType(t, i))
	}
}

func member(t *types.Struct, i int) (name string, optional bool) {
	name, options, _ := strings.Cut(reflect.StructTag(t.Tag(i)).Get("json"), ",")
	return name, options == "omitempty"
}

func (g *generator) memberType(t *types.Struct, i int) string {
	if said := reflect.StructTag(t.Tag(i)).Get("ts"); said != "" {
		return said
	}
	typ := t.Field(i).Type()
	if p, ok := typ.(*types.Pointer); ok {
		if _, optional := member(t, i); optional {
			typ = p.Elem()
		}
	}
	return g.typeOf(typ)
}

// typeOf is the TypeScript counterpart of a Go type, as JSON has it.
func (g *generator) typeOf(t types.Type) string {
	t = types.Unalias(t)
	if named, ok := t.(*types.Named); ok {
		switch {
		case named.Obj().Pkg().Path() == "encoding/json":
			return "unknown" // RawMessage
		case len(g.consts[named.Obj()]) > 0:
			return "Open<" + g.name(named.Obj()) + ">"
		}
		return g.name(named.Obj())
	}
	switch t := t.(type) {
	case *types.Pointer:
		return g.typeOf(t.Elem()) + " | null"
	case *types.Slice:
		return g.typeOf(t.Elem()) + "[]"
	case *types.Basic:
		switch info := t.Info(); {
		case info&types.IsString != 0:
			return "string"
		case info&types.IsBoolean != 0:
			return "boolean"
		case info&types.IsNumeric != 0:
			return "number"
		}
	}
	g.err = fmt.Errorf("%s has no counterpart in TypeScript", t)
	return "never"
}

func (g *generator) writeUnion(w io.Writer, u union) {
	fmt.Fprintf(w, "\n/** %s */\nexport interface %s {\n", u.doc, u.name)
	g.members(u, func(key string, d decl) {
		fmt.Fprintf(w, "  [%s]: %s;\n", key, g.name(d.obj))
	})
	fmt.Fprint(w, "}\n")
}

// members calls do for every struct of a union, with the constant that it is tied to.
func (g *generator) members(u union, do func(key string, d decl)) {
	for _, d := range g.decls {
		if d.obj.Pkg() == nil {
			continue
		}
		c := g.returns[d.obj.Pkg().Path()+"."+d.obj.Name()+"."+u.method]
		if c == nil {
			continue
		}
		enum := types.Unalias(c.Type()).(*types.Named).Obj()
		do(u.enum+"."+keys(g.consts[enum])(c.Name()), d)
	}
}

// writeShapes writes what the parser checks: each member of each frame from the server,
// and of an entry.
func (g *generator) writeShapes(w io.Writer) {
	fmt.Fprint(w, "\n/** The members of each frame's payload, as the parser checks them. */\n"+
		"const serverShapes: Record<ServerType, Shape> = {\n")
	g.members(unions[0], func(key string, d decl) {
		fmt.Fprintf(w, "  [%s]: %s,\n", key, g.shape(d.obj.Type().Underlying().(*types.Struct)))
	})
	entry := g.protocol.Scope().Lookup("Entry").Type().Underlying().(*types.Struct)
	fmt.Fprintf(w, "};\n\nconst entryShape: Shape = %s;\n", g.shape(entry))
}

func (g *generator) shape(t *types.Struct) string {
	return "{ " + strings.Join(g.shapeMembers(t), ", ") + " }"
}

func (g *generator) shapeMembers(t *types.Struct) (out []string) {
	for i := range t.NumFields() {
		f := t.Field(i)
		if f.Embedded() {
			out = append(out, g.shapeMembers(f.Type().Underlying().(*types.Struct))...)
			continue
		}
		name, optional := member(t, i)
		kind := jsonKind(f.Type())
		if strings.HasSuffix(g.memberType(t, i), "| null") {
			kind += "|null"
		}
		if optional {
			kind += "?"
		}
		out = append(out, fmt.Sprintf("%s: %q", name, kind))
	}
	return out
}

func jsonKind(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		return jsonKind(p.Elem())
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Name() == "RawMessage" {
		return "any"
	}
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return "array"
	case *types.Basic:
		switch info := t.Info(); {
		case info&types.IsString != 0:
			return "string"
		case info&types.IsBoolean != 0:
			return "boolean"
		}
		return "number"
	}
	return "object"
}

func quoted(c *types.Const) string { return strconv.Quote(constant.StringVal(c.Val())) }

// writeDoc writes a comment, if there is one. indent is what stands before it, a newline
// for a declaration of the top level.
func writeDoc(w io.Writer, indent, doc string) {
	doc = strings.TrimSpace(doc)
	pad := strings.Trim(indent, "\n")
	switch {
	case doc == "":
		fmt.Fprint(w, strings.TrimRight(indent, " "))
	case strings.Contains(doc, "\n"):
		body := strings.ReplaceAll(doc, "\n", "\n"+pad+" * ")
		fmt.Fprintf(w, "%s/**\n%s * %s\n%s */\n", indent, pad, body, pad)
	default:
		fmt.Fprintf(w, "%s/** %s */\n", indent, doc)
	}
}
