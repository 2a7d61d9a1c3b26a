// Package todo is the tool TodoWrite: a list of what is to be done, which an agent
// keeps in its conversation and people see at work.
//
// Guarantees:
//
//  1. The list is in the log and nowhere else: the newest call holds all of it.
//  2. It never asks, changes nothing, may run again, and runs alone, so that of two
//     lists in one reply the second stands.
//  3. Its hint holds the list as it was given; of one that is too long for a hint, the
//     beginning, and how many items follow.
package todo
