// Tsgen writes the TypeScript mirror of the run wire's names from their declarations in
// Go (server/protocol, turn/event): constants, payload types, the unions over the frame
// types, and the table of shapes that the parser of parse.ts checks frames against.
//
// A member's TypeScript type follows from its Go type; a tag ts:"…" says another one.
package main

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"log"
	"os"
)

//go:embed parse.ts
var parseTS string

const header = "// Code generated from server/protocol and turn/event by tsgen; DO NOT EDIT.\n"

func main() {
	log.SetFlags(0)
	log.SetPrefix("tsgen: ")
	out := flag.String("o", "", "`file` to write")
	flag.Parse()
	text, err := generate("../../turn/event", ".")
	if err == nil {
		err = os.WriteFile(*out, text, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// generate returns the mirror of the packages. event and protocol are their directories.
func generate(event, protocol string) ([]byte, error) {
	g, err := load(event, protocol)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(header)
	b.WriteString("\n/** A name of an open vocabulary: known ones, and whatever else comes. */\n" +
		"export type Open<T extends string> = T | (string & {});\n")
	for _, d := range g.decls {
		g.write(&b, d)
	}
	if g.err != nil {
		return nil, g.err
	}
	for _, u := range unions {
		g.writeUnion(&b, u)
	}
	g.writeShapes(&b)
	fmt.Fprintf(&b, "\n%s", parseTS)
	return b.Bytes(), g.err
}
