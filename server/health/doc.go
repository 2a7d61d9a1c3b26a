// Package health says how the server does: whether it can do its work, and in figures.
//
// Guarantees:
//
//  1. GET /readyz answers 200 as long as the log can be written and the server takes
//     requests, else 503 and why. It recovers when the file does, without a restart.
//  2. GET /metrics is for whoever is on this machine, where the server listens there
//     alone; elsewhere, and through a proxy, it takes a token that may watch.
//  3. Nothing is said of anybody's sessions: no id, no text, no secret.
package health
