// Package strictjson reads what clients send, for every wire alike, without the
// mercies of encoding/json: that package replaces invalid UTF-8 and half surrogate
// pairs, matches names in any case, and takes any depth.
//
// Guarantees:
//
//  1. A text that passes is decoded to what its sender wrote, to the byte.
//  2. An error says in words what is wrong, and with what; it quotes at most a few
//     characters of the text.
package strictjson
