// Package event is the vocabulary of the log: one constant and one payload
// struct for each durable type, and nothing about how or where they are kept.
//
// Guarantees:
//
//  1. The literal of a type stands once, in type.go; everything else uses the constant.
//  2. Writers are closed: only a Payload of this package can be appended.
//  3. Readers are open: an unknown type, or an unknown member of a known payload,
//     passes through untouched.
//  4. A payload encodes to one JSON object of valid UTF-8; <, > and & stay as they
//     are, and raw JSON inside it (arguments, results) keeps its digits.
//  5. The id of a step's message and of its reasoning is a fixed function of the
//     id of the step, so streamed text belongs to its entry before that exists.
package event
