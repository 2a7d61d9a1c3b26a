//go:build !race

package runwire

const raceDetector = false
