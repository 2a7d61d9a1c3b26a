// Package demo is a model for trying things out: offline, streaming, and not
// intelligent. It follows a small grammar in the newest user message, calls the tools
// that the grammar names, and answers from what they returned.
//
// It keeps the guarantees of package model, and these:
//
//  1. Its reply is a pure function of the request.
//  2. It calls only tools that the request offers; for another it says that none is mounted.
//  3. What it says of a result is taken from the result; an error is told as it is.
//  4. It says what it is, and never claims to understand.
package demo
