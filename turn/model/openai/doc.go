// Package openai speaks the chat completions wire, as OpenAI and the many servers
// that took it over serve it, each with faults of its own.
//
// It keeps the guarantees of packages model and httpstream, and these:
//
//  1. A reply is complete once the stream gave a finish reason or [DONE] and at least
//     one choice; whatever ends before that is truncated, and no call of it is returned.
//  2. A finish reason and nothing else is an empty reply. No choice at all is a failure.
//  3. Every call's Args is a JSON object with its digits as they came. Nothing and null
//     are {}; whatever else is no object, or half of one, is {} with an ArgsError.
//  4. The request's bytes are a pure function of the Request and the Config.
package openai
