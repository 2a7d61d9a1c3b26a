package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"sort"
	"strings"
)

const (
	eventPath    = "hitchpost/turn/event"
	protocolPath = "hitchpost/server/protocol"
)

// decl is one exported declaration, in the order of the source.
type decl struct {
	obj    types.Object
	doc    string
	fields map[string]string // comment of each member, by its Go name
}

type generator struct {
	protocol *types.Package
	decls    []decl
	consts   map[*types.TypeName][]decl // constants of a named type, in the order of the source
	returns  map[string]types.Object    // "T.M" → the constant that method M of T returns
	err      error                      // the first type that has no counterpart
}

// load type-checks both packages.
func load(eventDir, protocolDir string) (*generator, error) {
	fset := token.NewFileSet()
	g := &generator{consts: map[*types.TypeName][]decl{}, returns: map[string]types.Object{}}
	imports := mapped{importer.ForCompiler(fset, "source", nil), map[string]*types.Package{}}
	for _, p := range []struct{ path, dir string }{{eventPath, eventDir}, {protocolPath, protocolDir}} {
		files, err := parse(fset, p.dir)
		if err != nil {
			return nil, err
		}
		conf := types.Config{Importer: imports}
		info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
		pkg, err := conf.Check(p.path, fset, files, info)
		if err != nil {
			return nil, err
		}
		imports.known[p.path], g.protocol = pkg, pkg
		for _, f := range files {
			g.collect(f, info)
		}
	}
	return g, nil
}

// mapped imports the packages that were checked before as they are.
type mapped struct {
	types.Importer
	known map[string]*types.Package
}

func (m mapped) Import(path string) (*types.Package, error) {
	if p := m.known[path]; p != nil {
		return p, nil
	}
	return m.Importer.Import(path)
}

func parse(fset *token.FileSet, dir string) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no Go files in %s: %v", dir, err)
	}
	sort.Strings(names)
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func (g *generator) collect(f *ast.File, info *types.Info) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			g.collectReturn(d, info)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					g.decls = append(g.decls, decl{info.Defs[spec.Name], d.Doc.Text(), fieldComments(spec)})
				case *ast.ValueSpec:
					g.collectConst(spec, info)
				}
			}
		}
	}
}

// collectReturn notes a method that is "return Constant" and nothing else.
func (g *generator) collectReturn(d *ast.FuncDecl, info *types.Info) {
	if d.Recv == nil || len(d.Body.List) != 1 {
		return
	}
	ret, ok := d.Body.List[0].(*ast.ReturnStmt)
	recv, isIdent := d.Recv.List[0].Type.(*ast.Ident)
	if !ok || !isIdent || len(ret.Results) != 1 {
		return
	}
	if id, ok := ret.Results[0].(*ast.Ident); ok {
		owner := info.Uses[recv]
		g.returns[owner.Pkg().Path()+"."+owner.Name()+"."+d.Name.Name] = info.Uses[id]
	}
}

func (g *generator) collectConst(spec *ast.ValueSpec, info *types.Info) {
	for _, name := range spec.Names {
		c, ok := info.Defs[name].(*types.Const)
		if !ok || !c.Exported() || c.Val().Kind() != constant.String {
			continue
		}
		d := decl{obj: c, doc: spec.Comment.Text()}
		if named, ok := c.Type().(*types.Named); ok {
			g.consts[named.Obj()] = append(g.consts[named.Obj()], d)
		} else if alias, ok := c.Type().(*types.Alias); ok {
			owner := types.Unalias(alias).(*types.Named).Obj()
			g.consts[owner] = append(g.consts[owner], d)
		} else {
			g.decls = append(g.decls, d)
		}
	}
}

func fieldComments(spec *ast.TypeSpec) map[string]string {
	s, ok := spec.Type.(*ast.StructType)
	if !ok {
		return nil
	}
	out := map[string]string{}
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			out[name.Name] = f.Doc.Text() + f.Comment.Text()
		}
	}
	return out
}
