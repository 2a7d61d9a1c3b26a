// Package modeltest is what the tests of the providers' packages share: a scripted model
// server on a real socket, the scenarios of testdata, and a network on a fake clock.
// Nothing but tests imports it.
package modeltest
