// Package turn runs agents: it takes commands, asks models, runs tools, and
// appends all of it to the session's log. It knows no socket and no SQL.
//
// Guarantees:
//
//  1. One goroutine owns one agent. Every event of its session is appended by that
//     goroutine, so a check and the append that follows are one decision. It waits
//     for nothing but messages and its own commits.
//
//  2. A command that returns nil has taken effect and is on the disk. One whose append
//     failed returns an *AppendError, and nothing of it is kept.
//
//  3. What an agent knows of its log is a fold of it, the same after a restart: a
//     turn that the log has open is resumed by the code that runs every turn.
//
//  4. No text is lost and none is read twice: a text, and the step that reads it, are
//     recorded in one append each. No burst of waking texts starts two turns.
//
//  5. What the model sees is in the log: a request's messages are read back from it.
//
//  6. Every call of a turn that has ended has one result. A call that may have run
//     before a crash, and must not run twice, has the result "outcome unknown".
//
//  7. A cancel stops the turn that was open when it was accepted, and no later one.
//
//  8. A turn whose append fails stops where it is; it is open, and resumable.
//
//  9. An agent that nobody holds and that runs nothing is not in memory.
//
//  10. A call that must be decided by a person waits, durably, for the first verdict,
//     also across restarts; without one nothing but a configured expiry, a cancel or
//     the end of approvals settles it, and only the open turn's calls stand.
//
//  11. A session is named once, behind its first turn/end, and the request that finds
//     the name delays no turn, no agent and no shutdown.
//
//  12. A summary stands for exactly what was read to make it, never for a call without
//     its result, nor for anything of the open turn. One that is empty, no shorter, or
//     older than the newest text is not applied. One is made at a time; no text and
//     no shutdown waits for it.
//
//  13. A start waits for none of what it takes up: waking texts begin their turns, and
//     open turns go on, if they are to, a few at a time.
//
//  14. A subagent is a session of its own, under the policy that its caller was under.
//     Its turn ends before its call does, and with its caller's turn; when a process
//     death came between, it ends when the caller resumes. None waits for a person.
//
//  15. A configured secret is masked before it is appended, stored as a waiting text,
//     folded or asked about, also where the model's stream splits it; the pieces still
//     come out as they arrive, and concatenate to their message. A call that changes
//     something does not run with a mask in the place of its arguments' secrets.
//
//  16. A run that is refused leaves nothing in the log. One that takes a parked one's
//     place begins when that has ended; one key of a client is one run, for ever.
//
//  17. What lists tell of a session, its digest, is what its log says, and is stored in
//     the append that changed it.
//
//  18. A watcher hears of every change behind its commit and in order, of a session's
//     creation first. A session whose end it hears of takes the next run, or has begun it.
//
//  19. A text of the queue steer or follow_up makes a turn go on that would have ended
//     without it, unless that has had all its steps; any other waits for a step that
//     comes anyway. A restart between changes nothing of that.
//
//  20. What the model sees, what a continue answers, what a compaction summarises and what
//     a title is made of is the active path of the session's tree. The leaf moves
//     between turns alone; moving it to where it is logs nothing.
//
//  21. A fork is a copy of a prefix, in the state that the prefix folds to, and has no open
//     turn: each call that was copied without a result has an error for one. It runs
//     nothing that its source began, and does not disturb it.
//
//  22. Once a deletion has begun, no command for the session is taken and nothing is
//     appended but the end of its open turn, whose tools are killed. Nothing brings a
//     deleted session back.
//
// A file for each concern: host.go (who is in memory), session.go (how sessions come to
// be and are named), agent.go (messages, commits), state.go and load.go (the fold),
// digest.go (what lists tell of it), watch.go (who hears of changes), run.go (runs by
// name), turn.go (what comes next), step.go (one model request), batch.go (its calls),
// progress.go (what they print), approval.go, inbox.go and queue.go (waiting texts),
// continue.go, cancel.go, command.go, title.go, compact.go and summary.go, restart.go,
// usage.go, task.go, mask.go, branch.go, fork.go, delete.go.
package turn
