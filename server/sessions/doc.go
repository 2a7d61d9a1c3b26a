// Package sessions is what people see of sessions, over REST and on the run wire: the
// session object, the runs and the standing approvals of those that a token reaches, and
// what can be done with a run that is found by its id.
//
// Guarantees:
//
//  1. A session that is another owner's, that the token does not reach, that was deleted
//     or that never was is one and the same to the caller: ErrAbsent. Likewise a run
//     (ErrNoRun) and a standing call (ErrNoCall).
//  2. Whatever a session object says, its log said; only whether this process is at
//     work on the open run, and whether it asks people at all, is not in the log. A run
//     that has ended is never shown as resumable because it ended between two looks.
//  3. Pinned sessions come first, then those with the newest activity.
//  4. A turn that a fork copied is no run of the fork: a run id names one run.
//  5. Reading creates nothing and holds no agent in memory.
//  6. A cancel, a text and a verdict have the same effect and the same refusals whichever
//     wire brings them. A run that has ended is cancelled without a word, and without its
//     session being loaded.
package sessions
