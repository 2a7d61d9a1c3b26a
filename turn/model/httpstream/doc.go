// Package httpstream is what the clients of all model providers have in common: one
// POST whose answer is an event stream, with its timers, tries, bounds and failures.
// What an event means is its caller's to know, by an Answer.
//
// It keeps guarantees 3 to 6 of package model, and these:
//
//  1. A request that failed before anything was emitted, in a way that another try may
//     mend, is tried again up to Retries times with the same bytes, each told by a
//     Delta.Retry; the wait is never shorter than Retry-After, up to maxRetryAfter.
//  2. What failed is told in the provider's own words, cut to MaxMessage, without the
//     key or a header's value.
//  3. The key goes to the host of BaseURL and nowhere else: a redirect to another host,
//     or to less than HTTPS, is refused.
//  4. What brings no progress, a comment or an Idle event, does not hold off the stall limit.
package httpstream
