// Package shell is the tool Bash: commands in one shell a session, which lives on
// between the calls.
//
// Guarantees:
//
//  1. The calls of a session run one after the other in the same bash, so working
//     directory, variables and functions last. A shell that has ended is followed by a
//     fresh one at the next call, whose result says so and why. Sessions share nothing
//     but the files.
//  2. When the context of a call ends, when its time is up, and at Close, everything
//     that the shell ever started is killed before the call, or Close, returns; what
//     can get away is in the guarantees of package sandbox. A call waits for that no
//     longer than KillWait.
//  3. Memory is bounded whatever a command prints: the beginning and the end are kept,
//     with a note of how much is left out between them. What is no UTF-8 becomes
//     U+FFFD.
//  4. Progress is told at most once per progressEvery, at most progressBytes each and
//     progressTotal a call.
//  5. A call ends when its command does. Background jobs go on and may keep their
//     output open; what they print comes with the next call.
//  6. The end of a command and its exit code come over a descriptor of their own, with
//     a random mark for each call: nothing that a command prints is taken for them.
//  7. The environment is what Options.Env names, PWD and what package sandbox adds. The
//     folder of TMPDIR is the session's and goes at Close, or with a server that is
//     killed.
//  8. A call asks by policy where the sandbox holds, and always where it does not.
//  9. A shell that nobody has used for Options.Idle is ended.
//  10. Where the sandbox grants a folder entry by entry, a shell is replaced before a
//     call that would otherwise not reach what has come there: variables, functions,
//     options, working directory and temporary files stay. Background jobs prevent it,
//     and the result says so.
//
// There is no terminal: programs that want one say so, and standard input is empty.
// On systems other than Unix there is no tool, and New says why.
package shell
