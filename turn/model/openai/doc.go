// Package openai speaks the chat completions wire, as OpenAI and the many servers
// that took it over serve it, each with faults of its own.
//
// It keeps the guarantees of package model, and these:
//
//  1. A reply is complete once the stream gave a finish reason or [DONE] and at least
//     one choice; whatever ends before that is truncated, and no call of it is returned.
//  2. A finish reason and nothing else is an empty reply. No choice at all is a failure.
//  3. Every call's Args is a JSON object with its digits as they came. Nothing and null
//     are {}; whatever else is no object, or half of one, is {} with an ArgsError.
//  4. The request's bytes are a pure function of the Request and the Config.
//  5. What failed is told in the provider's own words, cut to maxMessage, without the
//     key or a header's value.
//  6. A request that failed before anything was emitted, in a way that another try may
//     mend, is tried again up to Retries times, each told by a Delta.Retry; the wait is
//     never shorter than Retry-After, up to maxRetryAfter.
//  7. The key goes to the host of BaseURL and nowhere else: a redirect to another host,
//     or to less than HTTPS, is refused.
package openai
