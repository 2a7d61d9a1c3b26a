//go:build !windows

package config

// ownsModes tells whether a file's mode says who can read it.
const ownsModes = true
