// Hitchpost keeps long-lived AI agents: each one's life is an append-only log in one
// SQLite file, served over a WebSocket.
package main

import (
	_ "embed"
	"os"

	"hitchpost/server/cli"
	"hitchpost/turn/tool/sandbox"
)

// version is set by the linker: -ldflags "-X main.version=v1.2.3".
var version string

//go:embed config.example.toml
var example string

func main() {
	sandbox.Main() // where this is the child that a sandboxed shell starts in, it does not return
	os.Exit(cli.Main(os.Args[1:], cli.Program{
		Example: example, Version: version,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}))
}
