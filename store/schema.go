package store

// applicationID marks the file as ours: "HPST" in the header, for file(1) and for us.
const applicationID = 0x48505354

// migrations are the steps from an empty file to today's schema. A file's
// user_version is the number of steps it has had; a step, once released, never changes.
var migrations = []string{schemaV1}

// schemaV1 is the first schema.
//
// An event row holds the very bytes that go on the wire; SQL readers use
// event->>'$.payload.text'. pos is the length of the session's log in bytes up
// to and including the event, so a size or a distance is one subtraction. id is
// NULL for the streamed pieces: both partial indexes leave them out, which keeps
// a chunk's append cheap and a lookup free of chunks.
//
// The layout of events was chosen by BenchmarkLayout (64 sessions growing by turns,
// 64 events of 350 bytes a commit; medians of three runs on a busy 2-core machine;
// replay is that of one of the sessions):
//
//	                            append    written  file     replay µs/event
//	                            µs CPU    B/event  B/event  cold     warm
//	rowid + UNIQUE, page 4096   19.8       4,932    425     158      7.2
//	rowid + UNIQUE, page 2048   20.8       3,341    426      93      6.1
//	WITHOUT ROWID, page 4096    39.4      12,724    447      21      1.4
//	session<<32|seq as rowid    29.4      10,707    446      17      1.4
//
// Clustering by session makes every append of a busy server dirty a page of events
// of its own, and split it in time: half again to twice the CPU and more than
// twice the bytes, for each chunk, for ever. What it buys is the replay of sessions that
// grew at the same time; one that grew alone lies together in every layout. Half
// the page size saves bytes, but a large event then hangs in twice the pages.
const schemaV1 = `
CREATE TABLE meta(
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE sessions(
	key        INTEGER PRIMARY KEY,
	id         TEXT NOT NULL UNIQUE,
	owner      TEXT NOT NULL,
	agent      TEXT NOT NULL,
	title      TEXT NOT NULL,
	parent_id  TEXT NOT NULL,
	pinned     INTEGER NOT NULL,
	created_at INTEGER NOT NULL, -- µs since 1970, as all times here
	deleted_at INTEGER           -- a tombstone: the id stays taken
) STRICT;

CREATE TABLE events(
	session INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	type    TEXT    NOT NULL,
	id      BLOB,
	pos     INTEGER NOT NULL,
	event   TEXT    NOT NULL,
	UNIQUE(session, seq)
) STRICT;
CREATE INDEX events_structural ON events(session, type, seq) WHERE id IS NOT NULL;
CREATE UNIQUE INDEX events_by_id ON events(id, session) WHERE id IS NOT NULL;

CREATE TABLE inbox(
	session   INTEGER NOT NULL,
	position  INTEGER NOT NULL,
	input_id  TEXT    NOT NULL,
	client_id INTEGER NOT NULL, -- 1 when the client chose input_id
	queue     TEXT    NOT NULL,
	text      TEXT    NOT NULL,
	wake      INTEGER NOT NULL,
	queued_at INTEGER NOT NULL,
	PRIMARY KEY(session, position)
) WITHOUT ROWID, STRICT;
CREATE INDEX inbox_waking ON inbox(session) WHERE wake = 1;

CREATE TABLE inputs_seen(
	session   INTEGER NOT NULL,
	client_id TEXT    NOT NULL,
	PRIMARY KEY(session, client_id)
) WITHOUT ROWID, STRICT;
`
