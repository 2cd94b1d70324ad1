-- name: settings
SELECT current_setting('synchronous_commit'), current_setting('fsync'), current_setting('server_encoding'),
  current_setting('transaction_isolation'), current_setting('transaction_read_only'), current_setting('server_version_num')::int

-- name: meta_exists
SELECT to_regclass('{schema}.meta') IS NOT NULL

-- name: schema_version
SELECT name, value FROM {schema}.meta WHERE name IN ('schema', 'min_reader')

-- name: lock_schema
SELECT pg_advisory_xact_lock(hashtext('{schema}.migrate'))

-- name: make_schema
CREATE SCHEMA IF NOT EXISTS {schema}

-- name: set_meta
INSERT INTO {schema}.meta (name, value) VALUES (%(name)s, %(value)s) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: begin_epoch
INSERT INTO {schema}.meta (name, value) VALUES ('epoch', '1') ON CONFLICT (name) DO NOTHING

-- name: now
SELECT {schema}.clock_ms()

-- name: notify
SELECT pg_notify('{schema}_work', '')

-- name: listen
LISTEN {schema}_work

-- name: instance
SELECT namespace, id, incarnation, machine, definition, status, version, revision, state, configuration, entered_at,
  created_at, updated_at, next_seq, pending, next_due, is_suspended, needs_attention, last_event, last_error, output, head, parent
FROM {schema}.instance WHERE namespace = %(namespace)s AND id = %(id)s

-- name: load
SELECT now_ms, state, instance, known, waiting, effects, forget_at
FROM {schema}.load_instance(%(namespace)s, %(id)s, %(event_id)s, %(seen)s::bigint, %(limit)s::bigint, %(needs_effects)s::boolean,
  %(now)s::bigint)

-- name: apply
SELECT {schema}.apply_commit(%(expected)s::bigint, %(instance)s::jsonb, %(state)s::text, %(writes)s::jsonb, %(now)s::bigint)

-- name: instances
SELECT namespace, id, incarnation, machine, definition, status, version, revision, state, configuration, entered_at,
  created_at, updated_at, next_seq, pending, next_due, is_suspended, needs_attention, last_event, last_error, output, head, parent
FROM {schema}.instance i
WHERE namespace = %(namespace)s AND id > %(after)s
  AND (%(machine)s::text IS NULL OR machine = %(machine)s::text)
  AND (%(definition)s::text IS NULL OR definition = %(definition)s::text)
  AND (%(status)s::text IS NULL OR status = %(status)s::text)
  AND (%(before)s::bigint IS NULL OR entered_at < %(before)s::bigint)
  AND (%(with_timer)s::bigint IS NULL OR next_due <= %(with_timer)s::bigint)
  AND (%(needs_attention)s::boolean IS NULL OR needs_attention = %(needs_attention)s::boolean)
  AND (%(is_suspended)s::boolean IS NULL OR is_suspended = %(is_suspended)s::boolean)
  AND (%(state)s::text IS NULL OR EXISTS (SELECT 1 FROM json_array_elements_text(configuration::json) leaf
    WHERE leaf.value = machine || '.' || %(state)s::text OR starts_with(leaf.value, machine || '.' || %(state)s::text || '.')))
  AND (%(with_effect)s::text IS NULL OR EXISTS (SELECT 1 FROM {schema}.effect e
    WHERE e.namespace = i.namespace AND e.instance = i.id AND e.status = %(with_effect)s::text))
ORDER BY id LIMIT %(limit)s::bigint

-- name: inbox
SELECT namespace, instance, seq, event_id, kind, body, target, digest, actor, status, received_at, handled_at, version, receipt, error
FROM {schema}.inbox WHERE namespace = %(namespace)s AND instance = %(instance)s
  AND (%(event_id)s::text IS NULL OR event_id = %(event_id)s::text)
  AND (%(statuses)s::text[] IS NULL OR status = ANY (%(statuses)s::text[]))
ORDER BY seq LIMIT %(limit)s::bigint

-- name: log
SELECT namespace, instance, version, at, kind, event_id, event_type, actor, reason, before, after, definition, implementation, payload,
  salt, payload_hash, state_hash, previous, hash
FROM {schema}.log WHERE namespace = %(namespace)s AND instance = %(instance)s AND version > %(after)s::bigint
ORDER BY version LIMIT %(limit)s::bigint

-- name: effects
SELECT namespace, instance, id, version, number, kind, name, session, key, given, policy, lane, definition, status, attempts,
  next_at, created_at, owner, fence, beat, called_at, is_cancelled, external_id, result, error, settled_at, trace
FROM {schema}.effect WHERE namespace = %(namespace)s AND (%(instance)s::text IS NULL OR instance = %(instance)s::text)
  AND (%(id)s::text IS NULL OR id = %(id)s::text) AND (%(key)s::text IS NULL OR key = %(key)s::text)
  AND (%(kind)s::text IS NULL OR kind = %(kind)s::text) AND (%(session)s::bigint IS NULL OR session = %(session)s::bigint)
  AND (%(statuses)s::text[] IS NULL OR status = ANY (%(statuses)s::text[]))
ORDER BY place LIMIT %(limit)s::bigint

-- name: timers
SELECT namespace, instance, id, handle, due_at, event_type, version
FROM {schema}.timer WHERE namespace = %(namespace)s AND instance = %(instance)s ORDER BY due_at, handle

-- name: definition
SELECT hash, machine, version, text, created_at FROM {schema}.definition WHERE hash = %(hash)s

-- name: definitions
SELECT hash, machine, version, text, created_at FROM {schema}.definition ORDER BY machine, created_at, hash

-- name: due
SELECT id FROM {schema}.instance
WHERE namespace = %(namespace)s AND NOT is_suspended AND definition = ANY (%(definitions)s::text[])
  AND (pending > 0 OR next_due <= coalesce(%(now)s::bigint, {schema}.clock_ms()))
ORDER BY coalesce(next_due, updated_at), id LIMIT %(limit)s::bigint

-- name: next_due
SELECT least(
  (SELECT min(next_due) FROM {schema}.instance
   WHERE namespace = %(namespace)s AND next_due IS NOT NULL AND NOT is_suspended AND definition = ANY (%(definitions)s::text[])),
  (SELECT e.next_at FROM {schema}.effect e JOIN {schema}.instance i ON i.namespace = e.namespace AND i.id = e.instance
   WHERE e.namespace = %(namespace)s AND e.status = 'PENDING' AND e.kind <> 'deliver' AND NOT i.is_suspended AND e.definition = ANY (%(definitions)s::text[])
     AND NOT EXISTS (SELECT 1 FROM {schema}.effect o WHERE o.namespace = e.namespace AND o.instance = e.instance
       AND o.lane = e.lane AND o.status IN ('PENDING', 'RUNNING', 'UNKNOWN') AND o.place < e.place)
     AND NOT EXISTS (SELECT 1 FROM {schema}.effect k WHERE k.namespace = e.namespace AND k.key = e.key AND k.place <> e.place
       AND (k.status IN ('RUNNING', 'UNKNOWN') OR (k.status = 'PENDING' AND k.place < e.place)))
   ORDER BY e.next_at LIMIT 1)
)

-- name: claim
SELECT namespace, instance, id, version, number, kind, name, session, key, given, policy, lane, definition, status, attempts,
  next_at, created_at, owner, fence, beat, called_at, is_cancelled, external_id, result, error, settled_at, trace
FROM {schema}.claim_effects(%(namespace)s, %(owner)s, %(definitions)s::text[], %(limit)s::bigint, %(now)s::bigint)

-- name: call
UPDATE {schema}.effect SET called_at = coalesce(%(now)s::bigint, {schema}.clock_ms()), beat = beat + 1
WHERE namespace = %(namespace)s AND id = %(id)s AND fence = %(fence)s AND owner = %(owner)s AND status = 'RUNNING'
  AND called_at IS NULL
RETURNING id

-- name: beat
WITH mine AS MATERIALIZED (
  SELECT place FROM {schema}.effect
  WHERE namespace = %(namespace)s AND owner = %(owner)s AND status = 'RUNNING' AND id = ANY (%(ids)s::text[])
  ORDER BY place FOR UPDATE
)
UPDATE {schema}.effect e SET beat = e.beat + 1 FROM mine WHERE e.place = mine.place RETURNING e.id, e.is_cancelled

-- name: settle
SELECT {schema}.settle_effect(%(settlement)s::jsonb, %(outcome)s::jsonb, %(now)s::bigint)

-- name: running
SELECT namespace, instance, id, version, number, kind, name, session, key, given, policy, lane, definition, status, attempts,
  next_at, created_at, owner, fence, beat, called_at, is_cancelled, external_id, result, error, settled_at, trace
FROM {schema}.effect WHERE namespace = %(namespace)s AND status = 'RUNNING' ORDER BY place

-- name: epoch
SELECT value FROM {schema}.meta WHERE name = 'epoch'

-- name: mark_restored
SELECT {schema}.mark_restored()

-- name: purge
SELECT {schema}.purge(%(namespace)s, %(before)s::bigint, %(forget_at)s::bigint, %(limit)s::bigint, %(now)s::bigint)
