package store

// applicationID marks the file as ours: "HPST" in the header, for file(1) and for us.
const applicationID = 0x48505354

// migrations are the steps from an empty file to today's schema. A file's
// user_version is the number of steps it has had; a step, once released, never changes.
var migrations = []string{schemaV1, schemaV2}

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

// schemaV2 adds what lists, forks, deletions and search need.
//
// leftovers names the keys whose rows are to be removed: of deleted sessions, and
// of copies that are not whole yet. Those have no row in sessions, which is why
// nobody sees them, and what a crash leaves of one is found here.
//
// A text to be found is a document of search, and texts says whose: of the event
// at seq, or at -1 the title. Documents count up, so the highest is the newest.
// owner holds one word that no text can forge, so that a search meets no
// document of another owner. unindexed lists the logs that were written before
// there was a search: their structural events behind (type, seq), up to upto, are
// yet to be looked at.
const schemaV2 = `
ALTER TABLE sessions ADD COLUMN digest TEXT; -- JSON, what turn last said of it; NULL: the log says it
CREATE INDEX sessions_of_owner ON sessions(owner);
ALTER TABLE inputs_seen ADD COLUMN note TEXT NOT NULL DEFAULT '';

CREATE TABLE leftovers(
	key INTEGER PRIMARY KEY
) STRICT;
INSERT INTO leftovers SELECT key FROM sessions WHERE deleted_at IS NOT NULL;

CREATE TABLE texts(
	doc     INTEGER PRIMARY KEY,
	session INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	UNIQUE(session, seq)
) STRICT;
CREATE VIRTUAL TABLE search USING fts5(owner, text, tokenize = 'unicode61 remove_diacritics 2');

CREATE TABLE unindexed(
	session INTEGER PRIMARY KEY,
	type    TEXT    NOT NULL,
	seq     INTEGER NOT NULL,
	upto    INTEGER NOT NULL
) STRICT;
INSERT INTO unindexed SELECT key, '', -1, coalesce((SELECT max(seq) FROM events WHERE session = s.key), -1)
	FROM sessions s WHERE deleted_at IS NULL;
`
