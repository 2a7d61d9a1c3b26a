// Package history makes from a log what the model sees: a pure function of a
// prefix of the log, so a restart changes no byte of a request.
//
// Guarantees:
//
//  1. Only user/message, context/injected, assistant/message, tool/result, the newest
//     session/compacted and the provider's own assistant/reasoning are seen; nothing else.
//  2. Every call is followed directly by one result, in call order. A call that the
//     log holds no result for gets an error result; a result without a call is left out.
//  3. A message with nothing in it is left out.
//  4. Project of the same events is the same messages; of a prefix, up to the last
//     message's unanswered calls, a prefix of them.
//  5. The arguments of a call are a JSON object, with the digits that it was logged with.
//  6. Only what stands on the active path is seen. A checkpoint counts only if it stands
//     there, and stands for every event of the path at or before its upto_seq.
//  7. A path is found from the session/branched events that it passed: two lookups for
//     each, whatever the length of the log, and one in all where nobody branched.
package history
