//go:build !race

package turn

const raceDetector = false
