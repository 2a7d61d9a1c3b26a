//go:build race

package turn

const raceDetector = true
