CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE definition (
  hash       TEXT PRIMARY KEY,
  machine    TEXT NOT NULL,
  version    TEXT,
  text       TEXT NOT NULL,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE instance (
  namespace       TEXT NOT NULL,
  id              TEXT NOT NULL,
  incarnation     TEXT NOT NULL UNIQUE,
  machine         TEXT NOT NULL,
  definition      TEXT NOT NULL REFERENCES definition (hash),
  status          TEXT NOT NULL,
  version         INTEGER NOT NULL,
  revision        INTEGER NOT NULL,
  state           TEXT NOT NULL,
  configuration   TEXT NOT NULL,
  entered_at      INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  next_seq        INTEGER NOT NULL,
  pending         INTEGER NOT NULL,
  next_due        INTEGER,
  is_suspended    INTEGER NOT NULL,
  needs_attention INTEGER NOT NULL,
  last_event      TEXT,
  last_error      TEXT,
  output          TEXT,
  head            TEXT NOT NULL,
  parent          TEXT,
  PRIMARY KEY (namespace, id)
);
CREATE INDEX instance_waiting ON instance (namespace, updated_at) WHERE pending > 0;
CREATE INDEX instance_due ON instance (namespace, next_due) WHERE next_due IS NOT NULL;

CREATE TABLE inbox (
  namespace   TEXT NOT NULL,
  instance    TEXT NOT NULL,
  seq         INTEGER NOT NULL,
  event_id    TEXT NOT NULL,
  kind        TEXT NOT NULL,
  body        TEXT,
  target      TEXT,
  digest      TEXT NOT NULL,
  actor       TEXT,
  status      TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  handled_at  INTEGER,
  version     INTEGER,
  receipt     TEXT,
  error       TEXT,
  PRIMARY KEY (namespace, instance, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX inbox_event ON inbox (namespace, instance, event_id);
CREATE INDEX inbox_waiting ON inbox (namespace, instance, seq) WHERE status IN ('accepted', 'dead');

CREATE TABLE log (
  namespace      TEXT NOT NULL,
  instance       TEXT NOT NULL,
  version        INTEGER NOT NULL,
  at             INTEGER NOT NULL,
  kind           TEXT NOT NULL,
  event_id       TEXT NOT NULL,
  event_type     TEXT,
  actor          TEXT,
  reason         TEXT,
  before         TEXT NOT NULL,
  after          TEXT NOT NULL,
  definition     TEXT NOT NULL,
  implementation TEXT,
  payload        TEXT,
  salt           TEXT,
  payload_hash   TEXT NOT NULL,
  state_hash     TEXT NOT NULL,
  previous       TEXT NOT NULL,
  hash           TEXT NOT NULL,
  PRIMARY KEY (namespace, instance, version)
) WITHOUT ROWID;

CREATE TABLE effect (
  place        INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace    TEXT NOT NULL,
  instance     TEXT NOT NULL,
  id           TEXT NOT NULL UNIQUE,
  version      INTEGER NOT NULL,
  number       INTEGER NOT NULL,
  kind         TEXT NOT NULL,
  name         TEXT NOT NULL,
  session      INTEGER NOT NULL,
  key          TEXT NOT NULL,
  given        TEXT,
  policy       TEXT NOT NULL,
  lane         TEXT,
  definition   TEXT NOT NULL,
  status       TEXT NOT NULL,
  attempts     INTEGER NOT NULL,
  next_at      INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  owner        TEXT,
  fence        INTEGER NOT NULL,
  beat         INTEGER NOT NULL,
  called_at    INTEGER,
  is_cancelled INTEGER NOT NULL,
  external_id  TEXT,
  result       TEXT,
  error        TEXT,
  settled_at   INTEGER,
  trace        TEXT
);
CREATE INDEX effect_pending ON effect (namespace, next_at) WHERE status = 'PENDING';
CREATE INDEX effect_open ON effect (namespace, instance, place) WHERE status IN ('PENDING', 'RUNNING', 'UNKNOWN');
CREATE INDEX effect_key ON effect (namespace, key);

CREATE TABLE timer (
  namespace  TEXT NOT NULL,
  instance   TEXT NOT NULL,
  id         TEXT NOT NULL,
  handle     INTEGER NOT NULL,
  due_at     INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  version    INTEGER NOT NULL,
  PRIMARY KEY (namespace, instance, handle)
) WITHOUT ROWID;

CREATE TABLE tombstone (
  namespace TEXT NOT NULL,
  id        TEXT NOT NULL,
  purged_at INTEGER NOT NULL,
  forget_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, id)
) WITHOUT ROWID;
