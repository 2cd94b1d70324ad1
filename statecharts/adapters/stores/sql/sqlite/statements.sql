-- name: instance
SELECT namespace, id, incarnation, machine, definition, status, version, revision, state, configuration, entered_at,
  created_at, updated_at, next_seq, pending, next_due, is_suspended, needs_attention, last_event, last_error, output, head, parent
FROM instance WHERE namespace = :namespace AND id = :id

-- name: load
SELECT i.namespace, i.id, i.incarnation, i.machine, i.definition, i.status, i.version, i.revision,
  CASE WHEN i.revision = :seen THEN NULL ELSE i.state END, i.configuration, i.entered_at,
  i.created_at, i.updated_at, i.next_seq, i.pending, i.next_due, i.is_suspended, i.needs_attention, i.last_event, i.last_error,
  i.output, i.head, i.parent,
  b.namespace, b.instance, b.seq, b.event_id, b.kind, b.body, b.target, b.digest, b.actor, b.status, b.received_at,
  b.handled_at, b.version, b.receipt, b.error
FROM instance i LEFT JOIN inbox b ON b.namespace = i.namespace AND b.instance = i.id AND b.event_id = :event_id
WHERE i.namespace = :namespace AND i.id = :id

-- name: waiting
SELECT namespace, instance, seq, event_id, kind, body, target, digest, actor, status, received_at, handled_at, version, receipt, error
FROM inbox WHERE namespace = :namespace AND instance = :id AND status = 'accepted' ORDER BY seq LIMIT :limit

-- name: add_definition
INSERT INTO definition (hash, machine, version, text, created_at)
VALUES (:hash, :machine, :version, :text, :created_at) ON CONFLICT (hash) DO NOTHING

-- name: add_instance
INSERT INTO instance (namespace, id, incarnation, machine, definition, status, version, revision, state, configuration, entered_at,
  created_at, updated_at, next_seq, pending, next_due, is_suspended, needs_attention, last_event, last_error, output, head, parent)
VALUES (:namespace, :id, :incarnation, :machine, :definition, :status, :version, :revision, :state, :configuration, :entered_at,
  :created_at, :updated_at, :next_seq, :pending, :next_due, :is_suspended, :needs_attention, :last_event, :last_error, :output,
  :head, :parent)

-- name: change_instance
UPDATE instance SET definition = :definition, status = :status, version = :version, revision = :revision,
  state = coalesce(:state, state), configuration = :configuration, entered_at = :entered_at, updated_at = :updated_at,
  next_seq = :next_seq, pending = :pending, next_due = :next_due, is_suspended = :is_suspended,
  needs_attention = :needs_attention, last_event = :last_event, last_error = :last_error, output = :output, head = :head
WHERE namespace = :namespace AND id = :id AND revision = :expected

-- name: add_inbox
INSERT INTO inbox (namespace, instance, seq, event_id, kind, body, target, digest, actor, status, received_at, handled_at, version,
  receipt, error)
VALUES (:namespace, :instance, :seq, :event_id, :kind, :body, :target, :digest, :actor, :status, :received_at, :handled_at, :version,
  :receipt, :error)

-- name: change_inbox
UPDATE inbox SET status = :status, handled_at = :handled_at, version = :version, receipt = :receipt, error = :error
WHERE namespace = :namespace AND instance = :instance AND seq = :seq

-- name: add_log
INSERT INTO log (namespace, instance, version, at, kind, event_id, event_type, actor, reason, before, after, definition,
  implementation, payload, salt, payload_hash, state_hash, previous, hash)
VALUES (:namespace, :instance, :version, :at, :kind, :event_id, :event_type, :actor, :reason, :before, :after, :definition,
  :implementation, :payload, :salt, :payload_hash, :state_hash, :previous, :hash)

-- name: add_effect
INSERT INTO effect (namespace, instance, id, version, number, kind, name, session, key, given, policy, lane, definition, status,
  attempts, next_at, created_at, owner, fence, beat, called_at, is_cancelled, external_id, result, error, settled_at, trace)
VALUES (:namespace, :instance, :id, :version, :number, :kind, :name, :session, :key, :given, :policy, :lane, :definition, :status,
  :attempts, :next_at, :created_at, :owner, :fence, :beat, :called_at, :is_cancelled, :external_id, :result, :error, :settled_at, :trace)

-- name: withdraw
UPDATE effect SET status = iif(status = 'PENDING', 'WITHDRAWN', status), is_cancelled = 1,
  settled_at = iif(status = 'PENDING', :now, settled_at)
WHERE namespace = :namespace AND instance = :instance AND kind IN ('invoke', 'resident', 'deliver')
  AND status IN ('PENDING', 'RUNNING', 'UNKNOWN')
  AND (:session IS NULL OR session = :session)

-- name: add_timer
INSERT INTO timer (namespace, instance, id, handle, due_at, event_type, version)
VALUES (:namespace, :instance, :id, :handle, :due_at, :event_type, :version)

-- name: drop_timer
DELETE FROM timer WHERE namespace = :namespace AND instance = :instance AND (:handle IS NULL OR handle = :handle)

-- name: instances
SELECT namespace, id, incarnation, machine, definition, status, version, revision, state, configuration, entered_at,
  created_at, updated_at, next_seq, pending, next_due, is_suspended, needs_attention, last_event, last_error, output, head, parent
FROM instance
WHERE namespace = :namespace AND id > :after
  AND (:machine IS NULL OR machine = :machine)
  AND (:definition IS NULL OR definition = :definition)
  AND (:status IS NULL OR status = :status)
  AND (:before IS NULL OR entered_at < :before)
  AND (:with_timer IS NULL OR next_due <= :with_timer)
  AND (:needs_attention IS NULL OR needs_attention = :needs_attention)
  AND (:is_suspended IS NULL OR is_suspended = :is_suspended)
  AND (:state IS NULL OR EXISTS (SELECT 1 FROM json_each(configuration) leaf
    WHERE leaf.value = machine || '.' || :state OR substr(leaf.value, 1, length(machine) + length(:state) + 2) = machine || '.' || :state || '.'))
  AND (:with_effect IS NULL OR EXISTS (SELECT 1 FROM effect
    WHERE effect.namespace = instance.namespace AND effect.instance = instance.id AND effect.status = :with_effect))
ORDER BY id LIMIT :limit

-- name: inbox
SELECT namespace, instance, seq, event_id, kind, body, target, digest, actor, status, received_at, handled_at, version, receipt, error
FROM inbox WHERE namespace = :namespace AND instance = :instance AND (:event_id IS NULL OR event_id = :event_id)
  AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
ORDER BY seq LIMIT :limit

-- name: log
SELECT namespace, instance, version, at, kind, event_id, event_type, actor, reason, before, after, definition, implementation, payload,
  salt, payload_hash, state_hash, previous, hash
FROM log WHERE namespace = :namespace AND instance = :instance AND version > :after ORDER BY version LIMIT :limit

-- name: effects
SELECT namespace, instance, id, version, number, kind, name, session, key, given, policy, lane, definition, status, attempts, next_at,
  created_at, owner, fence, beat, called_at, is_cancelled, external_id, result, error, settled_at, trace
FROM effect WHERE namespace = :namespace AND (:instance IS NULL OR instance = :instance) AND (:id IS NULL OR id = :id)
  AND (:key IS NULL OR key = :key) AND (:kind IS NULL OR kind = :kind) AND (:session IS NULL OR session = :session)
  AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
ORDER BY place LIMIT :limit

-- name: timers
SELECT namespace, instance, id, handle, due_at, event_type, version
FROM timer WHERE namespace = :namespace AND instance = :instance ORDER BY due_at, handle

-- name: definition
SELECT hash, machine, version, text, created_at FROM definition WHERE hash = :hash

-- name: definitions
SELECT hash, machine, version, text, created_at FROM definition ORDER BY machine, created_at, hash

-- name: due
SELECT id FROM instance
WHERE namespace = :namespace AND NOT is_suspended AND definition IN (SELECT value FROM json_each(:definitions))
  AND (pending > 0 OR next_due <= :now)
ORDER BY coalesce(next_due, updated_at), id LIMIT :limit

-- name: next_due
SELECT min(at) FROM (
  SELECT min(next_due) AS at FROM instance
  WHERE namespace = :namespace AND next_due IS NOT NULL AND NOT is_suspended
    AND definition IN (SELECT value FROM json_each(:definitions))
  UNION ALL
  SELECT * FROM (
    SELECT e.next_at FROM effect e JOIN instance i ON i.namespace = e.namespace AND i.id = e.instance
    WHERE e.namespace = :namespace AND e.status = 'PENDING' AND e.kind <> 'deliver' AND NOT i.is_suspended
      AND e.definition IN (SELECT value FROM json_each(:definitions))
      AND NOT EXISTS (SELECT 1 FROM effect o WHERE o.namespace = e.namespace AND o.instance = e.instance
        AND o.lane = e.lane AND o.status IN ('PENDING', 'RUNNING', 'UNKNOWN') AND o.place < e.place)
      AND NOT EXISTS (SELECT 1 FROM effect k WHERE k.namespace = e.namespace AND k.key = e.key AND k.place <> e.place
        AND (k.status IN ('RUNNING', 'UNKNOWN') OR (k.status = 'PENDING' AND k.place < e.place)))
    ORDER BY e.next_at LIMIT 1
  )
)

-- name: claim
UPDATE effect SET status = 'RUNNING', owner = :owner, fence = fence + 1, attempts = attempts + 1, beat = 0, called_at = NULL
WHERE place IN (
  SELECT e.place FROM effect e JOIN instance i ON i.namespace = e.namespace AND i.id = e.instance
  WHERE e.namespace = :namespace AND e.status = 'PENDING' AND e.next_at <= :now AND e.kind <> 'deliver' AND NOT i.is_suspended
    AND e.definition IN (SELECT value FROM json_each(:definitions))
    AND NOT EXISTS (SELECT 1 FROM effect o WHERE o.namespace = e.namespace AND o.instance = e.instance
      AND o.lane = e.lane AND o.status IN ('PENDING', 'RUNNING', 'UNKNOWN') AND o.place < e.place)
    AND NOT EXISTS (SELECT 1 FROM effect k WHERE k.namespace = e.namespace AND k.key = e.key AND k.place <> e.place
      AND (k.status IN ('RUNNING', 'UNKNOWN') OR (k.status = 'PENDING' AND k.place < e.place)))
  ORDER BY e.next_at, e.place LIMIT :limit
)
RETURNING namespace, instance, id, version, number, kind, name, session, key, given, policy, lane, definition, status, attempts,
  next_at, created_at, owner, fence, beat, called_at, is_cancelled, external_id, result, error, settled_at, trace

-- name: call
UPDATE effect SET called_at = :now, beat = beat + 1
WHERE namespace = :namespace AND id = :id AND fence = :fence AND owner = :owner AND status = 'RUNNING' AND called_at IS NULL

-- name: beat
UPDATE effect SET beat = beat + 1
WHERE namespace = :namespace AND owner = :owner AND status = 'RUNNING' AND id IN (SELECT value FROM json_each(:ids))
RETURNING id, is_cancelled

-- name: settle
UPDATE effect SET status = iif(:status = 'PENDING' AND is_cancelled, 'WITHDRAWN', :status), next_at = coalesce(:next_at, next_at), result = :result, error = :error,
  external_id = coalesce(:external_id, external_id), owner = NULL,
  settled_at = iif(:status = 'UNKNOWN' OR (:status = 'PENDING' AND NOT is_cancelled), NULL, :now)
WHERE namespace = :namespace AND id = :id AND fence = :fence AND status IN (SELECT value FROM json_each(:was))
  AND (:beat IS NULL OR beat = :beat)

-- name: next_seq
UPDATE instance SET next_seq = next_seq + 1, pending = pending + :waits, revision = revision + 1,
  needs_attention = max(needs_attention, 1 - :waits)
WHERE namespace = :namespace AND id = :instance RETURNING next_seq - 1

-- name: running
SELECT namespace, instance, id, version, number, kind, name, session, key, given, policy, lane, definition, status, attempts, next_at,
  created_at, owner, fence, beat, called_at, is_cancelled, external_id, result, error, settled_at, trace
FROM effect WHERE namespace = :namespace AND status = 'RUNNING' ORDER BY place

-- name: open_effects
SELECT namespace, instance, id, version, number, kind, name, session, key, given, policy, lane, definition, status, attempts, next_at,
  created_at, owner, fence, beat, called_at, is_cancelled, external_id, result, error, settled_at, trace
FROM effect WHERE namespace = :namespace AND instance = :instance AND status IN ('PENDING', 'RUNNING', 'UNKNOWN') ORDER BY place

-- name: rename_effect
UPDATE effect SET definition = :definition, name = :name
WHERE namespace = :namespace AND id = :id AND status = :status AND fence = :fence

-- name: tombstone
SELECT forget_at FROM tombstone WHERE namespace = :namespace AND id = :id

-- name: known
SELECT namespace, instance, seq, event_id, kind, body, target, digest, actor, status, received_at, handled_at, version, receipt, error
FROM inbox WHERE namespace = :namespace AND instance = :id AND event_id = :event_id

-- name: erase_log
UPDATE log SET payload = NULL, salt = NULL WHERE namespace = :namespace AND instance = :instance AND version < :version

-- name: erase_inbox
UPDATE inbox SET body = NULL, error = NULL WHERE namespace = :namespace AND instance = :instance

-- name: erase_effects
UPDATE effect SET given = NULL, result = NULL, error = NULL WHERE namespace = :namespace AND instance = :instance

-- name: epoch
SELECT value FROM meta WHERE name = 'epoch'

-- name: raise_epoch
UPDATE meta SET value = value + 1 WHERE name = 'epoch'

-- name: doubt_effects
UPDATE effect SET status = 'UNKNOWN', owner = NULL, fence = fence + 1,
  error = 'the data are from a backup: nobody knows whether it was done after that was made'
WHERE status IN ('PENDING', 'RUNNING') AND kind NOT IN ('resident', 'deliver', 'send')

-- name: free_effects
UPDATE effect SET status = 'PENDING', owner = NULL, fence = fence + 1
WHERE status IN ('PENDING', 'RUNNING') AND kind IN ('resident', 'deliver', 'send')

-- name: forget_inbox
DELETE FROM inbox WHERE namespace = :namespace AND instance IN
  (SELECT id FROM tombstone WHERE namespace = :namespace AND forget_at <= :now)

-- name: forget_tombstones
DELETE FROM tombstone WHERE namespace = :namespace AND forget_at <= :now

-- name: over
SELECT id FROM instance i WHERE namespace = :namespace AND status <> 'active' AND pending = 0 AND updated_at < :before
  AND NOT EXISTS (SELECT 1 FROM effect e WHERE e.namespace = i.namespace AND e.instance = i.id
    AND e.status IN ('PENDING', 'RUNNING', 'UNKNOWN'))
ORDER BY id LIMIT :limit

-- name: bury
INSERT INTO tombstone (namespace, id, purged_at, forget_at) VALUES (:namespace, :instance, :now, :forget_at)

-- name: purge_log
DELETE FROM log WHERE namespace = :namespace AND instance = :instance

-- name: purge_effects
DELETE FROM effect WHERE namespace = :namespace AND instance = :instance

-- name: purge_instance
DELETE FROM instance WHERE namespace = :namespace AND id = :instance
