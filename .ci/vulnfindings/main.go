// Command vulnfindings reads the JSON of govulncheck and fails on code of ours that
// calls a vulnerable function of a module. Those of the standard library are printed
// only: they go away with the toolchain, which the machine chooses.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

type message struct {
	Finding *struct {
		OSV   string
		Trace []struct{ Module, Version, Function string }
	}
}

func main() {
	found, err := scan(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if found > 0 {
		os.Exit(1)
	}
	fmt.Println("no called vulnerability outside the standard library")
}

func scan(r io.Reader) (found int, err error) {
	seen := map[string]bool{}
	for dec := json.NewDecoder(r); ; {
		var m message
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return found, err
		}
		f := m.Finding
		if f == nil || len(f.Trace) == 0 || f.Trace[0].Function == "" || seen[f.OSV] {
			continue // known to be imported, but not called
		}
		seen[f.OSV] = true
		at := f.Trace[0]
		fmt.Printf("%s: %s@%s: %s is called\n", f.OSV, at.Module, at.Version, at.Function)
		if at.Module != "stdlib" {
			found++
		}
	}
}
