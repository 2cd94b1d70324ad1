definition.hash text COLLATE "C" NOT NULL
definition.machine text COLLATE "C" NOT NULL
definition.version text
definition.text text NOT NULL
definition.created_at bigint NOT NULL
effect.place bigint NOT NULL IDENTITY
effect.namespace text COLLATE "C" NOT NULL
effect.instance text COLLATE "C" NOT NULL
effect.id text COLLATE "C" NOT NULL
effect.version bigint NOT NULL
effect.number bigint NOT NULL
effect.kind text NOT NULL
effect.name text NOT NULL
effect.session bigint NOT NULL
effect.key text COLLATE "C" NOT NULL
effect.given text
effect.policy text NOT NULL
effect.lane text
effect.definition text COLLATE "C" NOT NULL
effect.status text NOT NULL
effect.attempts bigint NOT NULL
effect.next_at bigint NOT NULL
effect.created_at bigint NOT NULL
effect.owner text
effect.fence bigint NOT NULL
effect.beat bigint NOT NULL
effect.called_at bigint
effect.is_cancelled boolean NOT NULL
effect.external_id text
effect.result text
effect.error text
effect.settled_at bigint
effect.trace text
inbox.namespace text COLLATE "C" NOT NULL
inbox.instance text COLLATE "C" NOT NULL
inbox.seq bigint NOT NULL
inbox.event_id text COLLATE "C" NOT NULL
inbox.kind text NOT NULL
inbox.body text
inbox.target text
inbox.digest text NOT NULL
inbox.actor text
inbox.status text NOT NULL
inbox.received_at bigint NOT NULL
inbox.handled_at bigint
inbox.version bigint
inbox.receipt text
inbox.error text
instance.namespace text COLLATE "C" NOT NULL
instance.id text COLLATE "C" NOT NULL
instance.incarnation text COLLATE "C" NOT NULL
instance.machine text COLLATE "C" NOT NULL
instance.definition text COLLATE "C" NOT NULL
instance.status text NOT NULL
instance.version bigint NOT NULL
instance.revision bigint NOT NULL
instance.state text NOT NULL
instance.configuration text NOT NULL
instance.entered_at bigint NOT NULL
instance.created_at bigint NOT NULL
instance.updated_at bigint NOT NULL
instance.next_seq bigint NOT NULL
instance.pending bigint NOT NULL
instance.next_due bigint
instance.is_suspended boolean NOT NULL
instance.needs_attention boolean NOT NULL
instance.last_event text
instance.last_error text
instance.output text
instance.head text NOT NULL
instance.parent text
log.namespace text COLLATE "C" NOT NULL
log.instance text COLLATE "C" NOT NULL
log.version bigint NOT NULL
log.at bigint NOT NULL
log.kind text NOT NULL
log.event_id text NOT NULL
log.event_type text
log.actor text
log.reason text
log.before text NOT NULL
log.after text NOT NULL
log.definition text NOT NULL
log.implementation text
log.payload text
log.salt text
log.payload_hash text NOT NULL
log.state_hash text NOT NULL
log.previous text NOT NULL
log.hash text NOT NULL
meta.name text COLLATE "C" NOT NULL
meta.value text NOT NULL
timer.namespace text COLLATE "C" NOT NULL
timer.instance text COLLATE "C" NOT NULL
timer.id text NOT NULL
timer.handle bigint NOT NULL
timer.due_at bigint NOT NULL
timer.event_type text NOT NULL
timer.version bigint NOT NULL
tombstone.namespace text COLLATE "C" NOT NULL
tombstone.id text COLLATE "C" NOT NULL
tombstone.purged_at bigint NOT NULL
tombstone.forget_at bigint NOT NULL
CREATE UNIQUE INDEX definition_pkey ON definition USING btree (hash)
CREATE UNIQUE INDEX effect_id_key ON effect USING btree (id)
CREATE INDEX effect_key ON effect USING btree (namespace, key)
CREATE INDEX effect_open ON effect USING btree (namespace, instance, place) WHERE (status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text, 'UNKNOWN'::text]))
CREATE INDEX effect_pending ON effect USING btree (namespace, next_at, place) WHERE (status = 'PENDING'::text)
CREATE UNIQUE INDEX effect_pkey ON effect USING btree (place)
CREATE UNIQUE INDEX inbox_event ON inbox USING btree (namespace, instance, event_id)
CREATE UNIQUE INDEX inbox_pkey ON inbox USING btree (namespace, instance, seq)
CREATE INDEX inbox_waiting ON inbox USING btree (namespace, instance, seq) WHERE (status = ANY (ARRAY['accepted'::text, 'dead'::text]))
CREATE INDEX instance_due ON instance USING btree (namespace, next_due) WHERE (next_due IS NOT NULL)
CREATE UNIQUE INDEX instance_incarnation_key ON instance USING btree (incarnation)
CREATE UNIQUE INDEX instance_pkey ON instance USING btree (namespace, id)
CREATE INDEX instance_waiting ON instance USING btree (namespace, updated_at) WHERE (pending > 0)
CREATE UNIQUE INDEX log_pkey ON log USING btree (namespace, instance, version)
CREATE UNIQUE INDEX meta_pkey ON meta USING btree (name)
CREATE UNIQUE INDEX timer_pkey ON timer USING btree (namespace, instance, handle)
CREATE UNIQUE INDEX tombstone_pkey ON tombstone USING btree (namespace, id)
definition PRIMARY KEY (hash)
effect PRIMARY KEY (place)
effect UNIQUE (id)
inbox PRIMARY KEY (namespace, instance, seq)
instance FOREIGN KEY (definition) REFERENCES definition(hash)
instance PRIMARY KEY (namespace, id)
instance UNIQUE (incarnation)
log PRIMARY KEY (namespace, instance, version)
meta PRIMARY KEY (name)
timer PRIMARY KEY (namespace, instance, handle)
tombstone PRIMARY KEY (namespace, id)
CREATE OR REPLACE FUNCTION apply_commit(p_expected bigint, p_instance jsonb, p_state text, p_writes jsonb, p_now bigint)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_new instance := jsonb_populate_record(NULL::instance, p_instance);
  v_settlement jsonb;
  v_count bigint;
BEGIN
  IF p_expected IS NULL THEN
    PERFORM 1 FROM instance i WHERE i.namespace = v_new.namespace AND i.id = v_new.id;
    IF FOUND THEN
      RETURN 'conflict';
    END IF;
  ELSE
    PERFORM 1 FROM instance i
    WHERE i.namespace = v_new.namespace AND i.id = v_new.id AND i.revision = p_expected FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RETURN 'conflict';
    END IF;
  END IF;
  FOR v_settlement IN SELECT value FROM jsonb_array_elements(p_writes -> 'settled') LOOP
    PERFORM 1 FROM effect e,
      jsonb_to_record(v_settlement) AS s (namespace text, id text, fence bigint, was text[], beat bigint)
    WHERE e.namespace = s.namespace AND e.id = s.id AND e.fence = s.fence AND e.status = ANY (s.was)
      AND (s.beat IS NULL OR e.beat = s.beat)
    FOR UPDATE OF e;
    IF NOT FOUND THEN
      RETURN 'moved:' || (v_settlement ->> 'id');
    END IF;
  END LOOP;
  IF p_writes ? 'renamed' THEN
    PERFORM 1 FROM effect e JOIN jsonb_populate_recordset(NULL::effect, p_writes -> 'renamed') r
      ON e.namespace = r.namespace AND e.id = r.id AND e.status = r.status AND e.fence = r.fence
    ORDER BY e.place FOR UPDATE OF e;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> jsonb_array_length(p_writes -> 'renamed') THEN
      RETURN 'conflict';  -- somebody has claimed or settled one since it was loaded
    END IF;
  END IF;
  PERFORM write_instance(p_expected, v_new, p_state, p_writes -> 'definition');
  PERFORM write_rows(v_new.namespace, v_new.id, p_writes);
  PERFORM write_work(v_new, p_writes, coalesce(p_now, clock_ms()));
  RETURN 'ok';
END $function$

CREATE OR REPLACE FUNCTION claim_effects(p_namespace text, p_owner text, p_definitions text[], p_limit bigint, p_now bigint)
 RETURNS SETOF effect
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('claim'), hashtext(p_namespace));
  RETURN QUERY
  WITH free AS MATERIALIZED (
    SELECT e.place FROM effect e JOIN instance i ON i.namespace = e.namespace AND i.id = e.instance
    WHERE e.namespace = p_namespace AND e.status = 'PENDING' AND e.kind <> 'deliver' AND e.next_at <= coalesce(p_now, clock_ms())
      AND NOT i.is_suspended AND e.definition = ANY (p_definitions)
      AND NOT EXISTS (SELECT 1 FROM effect o WHERE o.namespace = e.namespace AND o.instance = e.instance
        AND o.lane = e.lane AND o.status IN ('PENDING', 'RUNNING', 'UNKNOWN') AND o.place < e.place)
      AND NOT EXISTS (SELECT 1 FROM effect k WHERE k.namespace = e.namespace AND k.key = e.key AND k.place <> e.place
        AND (k.status IN ('RUNNING', 'UNKNOWN') OR (k.status = 'PENDING' AND k.place < e.place)))
    ORDER BY e.next_at, e.place LIMIT p_limit FOR UPDATE OF e SKIP LOCKED
  )
  UPDATE effect e SET status = 'RUNNING', owner = p_owner, fence = e.fence + 1, attempts = e.attempts + 1, beat = 0,
    called_at = NULL
  FROM free WHERE e.place = free.place RETURNING e.*;
END $function$

CREATE OR REPLACE FUNCTION clock_ms()
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
$function$

CREATE OR REPLACE FUNCTION load_instance(p_namespace text, p_id text, p_event_id text, p_seen bigint, p_limit bigint, p_needs_effects boolean, p_now bigint, OUT now_ms bigint, OUT state text, OUT instance text, OUT known text, OUT waiting text, OUT effects text, OUT forget_at bigint)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  v_instance instance;
BEGIN
  now_ms := coalesce(p_now, clock_ms());
  SELECT * INTO v_instance FROM instance i WHERE i.namespace = p_namespace AND i.id = p_id;
  IF NOT FOUND THEN
    SELECT t.forget_at INTO forget_at FROM tombstone t WHERE t.namespace = p_namespace AND t.id = p_id;
    IF FOUND AND p_event_id IS NOT NULL THEN
      SELECT row_to_json(b)::text INTO known FROM inbox b
      WHERE b.namespace = p_namespace AND b.instance = p_id AND b.event_id = p_event_id;
    END IF;
    RETURN;
  END IF;
  IF v_instance.revision IS DISTINCT FROM p_seen THEN
    state := v_instance.state;
  END IF;
  v_instance.state := NULL;
  instance := row_to_json(v_instance)::text;
  IF p_event_id IS NOT NULL THEN
    SELECT row_to_json(b)::text INTO known FROM inbox b
    WHERE b.namespace = p_namespace AND b.instance = p_id AND b.event_id = p_event_id;
  END IF;
  IF v_instance.pending > 0 THEN
    SELECT json_agg(w ORDER BY w.seq)::text INTO waiting FROM (
      SELECT * FROM inbox b WHERE b.namespace = p_namespace AND b.instance = p_id AND b.status = 'accepted'
      ORDER BY b.seq LIMIT p_limit
    ) w;
  END IF;
  IF p_needs_effects THEN
    SELECT json_agg(e ORDER BY e.place)::text INTO effects FROM effect e
    WHERE e.namespace = p_namespace AND e.instance = p_id AND e.status IN ('PENDING', 'RUNNING', 'UNKNOWN');
  END IF;
END $function$

CREATE OR REPLACE FUNCTION mark_restored()
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_count bigint;
BEGIN
  UPDATE meta SET value = (value::bigint + 1)::text WHERE name = 'epoch';
  UPDATE effect SET status = 'PENDING', owner = NULL, fence = fence + 1
  WHERE status IN ('PENDING', 'RUNNING') AND kind IN ('resident', 'deliver', 'send');
  UPDATE effect SET status = 'UNKNOWN', owner = NULL, fence = fence + 1,
    error = 'the data are from a backup: nobody knows whether it was done after that was made'
  WHERE status IN ('PENDING', 'RUNNING') AND kind NOT IN ('resident', 'deliver', 'send');
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $function$

CREATE OR REPLACE FUNCTION move_effect(p_settlement jsonb, p_now bigint)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE effect e SET status = CASE WHEN s.status = 'PENDING' AND e.is_cancelled THEN 'WITHDRAWN' ELSE s.status END,
    next_at = coalesce(s.next_at, e.next_at), result = s.result, error = s.error,
    external_id = coalesce(s.external_id, e.external_id), owner = NULL,
    settled_at = CASE WHEN s.status = 'UNKNOWN' OR (s.status = 'PENDING' AND NOT e.is_cancelled) THEN NULL ELSE p_now END
  FROM jsonb_to_record(p_settlement) AS s (namespace text, id text, fence bigint, was text[], status text, beat bigint,
    next_at bigint, result text, error text, external_id text)
  WHERE e.namespace = s.namespace AND e.id = s.id AND e.fence = s.fence AND e.status = ANY (s.was)
    AND (s.beat IS NULL OR e.beat = s.beat);
  RETURN FOUND;
END $function$

CREATE OR REPLACE FUNCTION purge(p_namespace text, p_before bigint, p_forget_at bigint, p_limit bigint, p_now bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_now bigint := coalesce(p_now, clock_ms());
  v_ids text[];
BEGIN
  DELETE FROM inbox b USING tombstone t
  WHERE t.namespace = p_namespace AND t.forget_at <= v_now AND b.namespace = t.namespace AND b.instance = t.id;
  DELETE FROM tombstone t WHERE t.namespace = p_namespace AND t.forget_at <= v_now;
  SELECT array_agg(o.id) INTO v_ids FROM (
    SELECT i.id FROM instance i
    WHERE i.namespace = p_namespace AND i.status <> 'active' AND i.pending = 0 AND i.updated_at < p_before
      AND NOT EXISTS (SELECT 1 FROM effect e WHERE e.namespace = i.namespace AND e.instance = i.id
        AND e.status IN ('PENDING', 'RUNNING', 'UNKNOWN'))
    ORDER BY i.id LIMIT p_limit FOR UPDATE OF i SKIP LOCKED
  ) o;
  IF v_ids IS NULL THEN
    RETURN 0;
  END IF;
  INSERT INTO tombstone SELECT p_namespace, unnest(v_ids), v_now, p_forget_at;
  DELETE FROM log l WHERE l.namespace = p_namespace AND l.instance = ANY (v_ids);
  DELETE FROM effect e WHERE e.namespace = p_namespace AND e.instance = ANY (v_ids);
  UPDATE inbox b SET body = NULL, error = NULL WHERE b.namespace = p_namespace AND b.instance = ANY (v_ids);
  DELETE FROM instance i WHERE i.namespace = p_namespace AND i.id = ANY (v_ids);
  RETURN cardinality(v_ids);
END $function$

CREATE OR REPLACE FUNCTION settle_effect(p_settlement jsonb, p_outcome jsonb, p_now bigint)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_row inbox;
BEGIN
  IF p_outcome IS NOT NULL THEN
    v_row := jsonb_populate_record(NULL::inbox, p_outcome);
    PERFORM 1 FROM instance i WHERE i.namespace = v_row.namespace AND i.id = v_row.instance FOR NO KEY UPDATE;
  END IF;
  IF NOT move_effect(p_settlement, coalesce(p_now, clock_ms())) THEN
    RETURN false;
  END IF;
  IF p_outcome IS NOT NULL THEN
    UPDATE instance i SET next_seq = i.next_seq + 1, revision = i.revision + 1,
      pending = i.pending + CASE v_row.status WHEN 'accepted' THEN 1 ELSE 0 END,
      needs_attention = i.needs_attention OR v_row.status <> 'accepted'
    WHERE i.namespace = v_row.namespace AND i.id = v_row.instance RETURNING i.next_seq - 1 INTO v_row.seq;
    IF FOUND THEN
      INSERT INTO inbox SELECT v_row.*;
    END IF;
  END IF;
  RETURN true;
END $function$

CREATE OR REPLACE FUNCTION withdraw_effects(p_namespace text, p_instance text, p_sessions bigint[], p_now bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  WITH found AS MATERIALIZED (
    SELECT e.place FROM effect e
    WHERE e.namespace = p_namespace AND e.instance = p_instance AND e.kind IN ('invoke', 'resident', 'deliver')
      AND e.status IN ('PENDING', 'RUNNING', 'UNKNOWN') AND (p_sessions IS NULL OR e.session = ANY (p_sessions))
    ORDER BY e.place FOR UPDATE
  )
  UPDATE effect e SET is_cancelled = true,
    status = CASE e.status WHEN 'PENDING' THEN 'WITHDRAWN' ELSE e.status END,
    settled_at = CASE e.status WHEN 'PENDING' THEN p_now ELSE e.settled_at END
  FROM found WHERE e.place = found.place;
END $function$

CREATE OR REPLACE FUNCTION write_instance(p_expected bigint, p_new instance, p_state text, p_definition jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF p_definition IS NOT NULL THEN
    INSERT INTO definition SELECT * FROM jsonb_populate_record(NULL::definition, p_definition)
    ON CONFLICT (hash) DO NOTHING;
  END IF;
  p_new.state := p_state;
  IF p_expected IS NULL THEN
    INSERT INTO instance SELECT p_new.*;
  ELSE
    UPDATE instance i SET definition = p_new.definition, status = p_new.status, version = p_new.version,
      revision = p_new.revision, state = coalesce(p_new.state, i.state), configuration = p_new.configuration,
      entered_at = p_new.entered_at, updated_at = p_new.updated_at, next_seq = p_new.next_seq, pending = p_new.pending,
      next_due = p_new.next_due, is_suspended = p_new.is_suspended, needs_attention = p_new.needs_attention,
      last_event = p_new.last_event, last_error = p_new.last_error, output = p_new.output, head = p_new.head
    WHERE i.namespace = p_new.namespace AND i.id = p_new.id;
  END IF;
END $function$

CREATE OR REPLACE FUNCTION write_rows(p_namespace text, p_instance text, p_writes jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF p_writes ? 'arrived' THEN
    INSERT INTO inbox SELECT * FROM jsonb_populate_recordset(NULL::inbox, p_writes -> 'arrived');
  END IF;
  IF p_writes ? 'handled' THEN
    UPDATE inbox b SET status = h.status, handled_at = h.handled_at, version = h.version, receipt = h.receipt, error = h.error
    FROM jsonb_populate_recordset(NULL::inbox, p_writes -> 'handled') h
    WHERE b.namespace = p_namespace AND b.instance = p_instance AND b.seq = h.seq;
  END IF;
  IF p_writes ? 'log' THEN
    INSERT INTO log SELECT * FROM jsonb_populate_recordset(NULL::log, p_writes -> 'log');
  END IF;
END $function$

CREATE OR REPLACE FUNCTION write_work(p_new instance, p_writes jsonb, p_now bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_settlement jsonb;
BEGIN
  FOR v_settlement IN SELECT value FROM jsonb_array_elements(p_writes -> 'settled') LOOP
    PERFORM move_effect(v_settlement, p_now);
  END LOOP;
  IF p_writes ? 'withdrawn' THEN
    PERFORM withdraw_effects(p_new.namespace, p_new.id,
      ARRAY(SELECT value::bigint FROM jsonb_array_elements_text(p_writes -> 'withdrawn')), p_new.updated_at);
  END IF;
  IF p_writes ? 'timers_gone' THEN
    DELETE FROM timer t WHERE t.namespace = p_new.namespace AND t.instance = p_new.id
      AND t.handle IN (SELECT value::bigint FROM jsonb_array_elements_text(p_writes -> 'timers_gone'));
  END IF;
  IF p_writes ? 'renamed' THEN
    UPDATE effect e SET definition = r.definition, name = r.name
    FROM jsonb_populate_recordset(NULL::effect, p_writes -> 'renamed') r
    WHERE e.namespace = r.namespace AND e.id = r.id;
  END IF;
  IF p_writes ? 'effects' THEN
    INSERT INTO effect (namespace, instance, id, version, number, kind, name, session, key, given, policy, lane,
      definition, status, attempts, next_at, created_at, owner, fence, beat, called_at, is_cancelled, external_id, result, error,
      settled_at, trace)
    SELECT r.namespace, r.instance, r.id, r.version, r.number, r.kind, r.name, r.session, r.key, r.given, r.policy, r.lane,
      r.definition, r.status, r.attempts, r.next_at, r.created_at, r.owner, r.fence, r.beat, r.called_at, r.is_cancelled,
      r.external_id, r.result, r.error, r.settled_at, r.trace
    FROM jsonb_populate_recordset(NULL::effect, p_writes -> 'effects') r ORDER BY r.version, r.number;
  END IF;
  IF p_writes ? 'timers_set' THEN
    INSERT INTO timer SELECT * FROM jsonb_populate_recordset(NULL::timer, p_writes -> 'timers_set');
  END IF;
  IF p_writes ? 'closes' THEN
    PERFORM withdraw_effects(p_new.namespace, p_new.id, NULL, p_new.updated_at);
    DELETE FROM timer t WHERE t.namespace = p_new.namespace AND t.instance = p_new.id;
  END IF;
  IF p_writes ? 'erases' THEN
    UPDATE log l SET payload = NULL, salt = NULL
    WHERE l.namespace = p_new.namespace AND l.instance = p_new.id AND l.version < p_new.version;
    UPDATE inbox b SET body = NULL, error = NULL WHERE b.namespace = p_new.namespace AND b.instance = p_new.id;
    UPDATE effect e SET given = NULL, result = NULL, error = NULL
    WHERE e.namespace = p_new.namespace AND e.instance = p_new.id;
  END IF;
END $function$
