// Package tool is the seam to what an agent can do: a tool's description, how a
// call may be handled, and how it runs. Nothing here knows the log or the model.
//
// Guarantees:
//
//  1. A Set holds each name once, in order of name, and only tools that can run.
//  2. Arguments reach a tool as one JSON object, digits and all as the model wrote
//     them, and valid against the tool's schema as far as Validate reads it. Nothing
//     at all, and null, count as {}.
//  3. Validate never refuses what the schema allows: keywords that it does not know
//     are passed over, the tool itself has the last word. Its time and memory are
//     bounded, also for a schema that refers to itself.
//  4. A problem with arguments is told by the argument's name and what is wrong; all
//     of them at once, the first ten.
//  5. Whatever a tool does, its call comes to one Result: a panic, a time that runs
//     out, a cancel and a result that is no JSON are errors of the call, never of the
//     turn.
//  6. A caller waits for a tool no longer than Timeout and then Grace. A tool that
//     goes on regardless is a stray: its later progress and result are dropped, and
//     Runner.Wait waits for it.
//  7. A result is valid JSON in valid UTF-8 and not above the limit; what is cut is
//     cut between two characters and says so.
//  8. The hint of a result that is an error says is_error, unless its tool set that.
package tool
