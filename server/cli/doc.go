// Package cli is the command line.
//
// Guarantees:
//
//  1. Results go to stdout, everything else to stderr.
//  2. An error is one line that says what to do; a configuration with mistakes is one
//     line a mistake. Exit codes: 0 done, 1 failed, 2 called or configured wrongly.
//  3. A command is told the server by --url and --token, else by HITCHPOST_URL and
//     HITCHPOST_TOKEN, else by the configuration and the token file beside the
//     database; a token of this machine is not sent to a server that was named otherwise
//     and is elsewhere.
//  4. send and chat show each event once, whatever becomes of the connection.
//  5. What a model or a tool wrote cannot move the cursor of the terminal or recolour it.
package cli
