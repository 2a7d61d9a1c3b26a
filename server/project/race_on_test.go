//go:build race

package project_test

import "flag"

// Ten random logs a property, where each costs tens of times as much: the detector looks
// for races, and the run without it for logs.
func init() { _ = flag.Set("rapid.checks", "10") }
