//go:build race

package turn

import "flag"

const raceDetector = true

// Ten random lives a property, where each costs tens of times as much: the detector looks
// for races, and the run without it for lives.
func init() { _ = flag.Set("rapid.checks", "10") }
