//go:build race

package runwire

const raceDetector = true
