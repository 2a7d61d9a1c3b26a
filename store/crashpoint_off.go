//go:build !crashpoints

package store

// crashPoint is where a binary built with the tag crashpoints can be made to die.
func crashPoint(string, []*request) {}
