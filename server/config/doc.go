// Package config reads hitchpost.toml.
//
// Guarantees:
//
//  1. A file is taken whole or not at all, and every problem in it is reported in one
//     error: file, line, key, what is wrong and what to write instead. A file that
//     holds a secret is not quoted.
//  2. A key that is left out has the default that config.example.toml shows.
//  3. Of a token only the SHA-256 leaves this package, whatever form it was written in.
//     FindToken, for the commands that have to present one, reads it anew.
//  4. A provider's key prints as "(secret)" under every verb and encoder.
//  5. The generated token of a server without tokens is written once, atomically, mode
//     0600, and used again by every later start beside the same database.
//
// Relative paths in the file mean the folder the program runs in.
package config
