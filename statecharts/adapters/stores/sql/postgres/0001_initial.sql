CREATE TABLE {schema}.meta (
  name  text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE {schema}.definition (
  hash       text COLLATE "C" PRIMARY KEY,
  machine    text COLLATE "C" NOT NULL,
  version    text,
  text       text NOT NULL,
  created_at bigint NOT NULL
);

CREATE TABLE {schema}.instance (
  namespace       text COLLATE "C" NOT NULL,
  id              text COLLATE "C" NOT NULL,
  incarnation     text COLLATE "C" NOT NULL UNIQUE,
  machine         text COLLATE "C" NOT NULL,
  definition      text COLLATE "C" NOT NULL REFERENCES {schema}.definition (hash),
  status          text NOT NULL,
  version         bigint NOT NULL,
  revision        bigint NOT NULL,
  state           text NOT NULL,
  configuration   text NOT NULL,
  entered_at      bigint NOT NULL,
  created_at      bigint NOT NULL,
  updated_at      bigint NOT NULL,
  next_seq        bigint NOT NULL,
  pending         bigint NOT NULL,
  next_due        bigint,
  is_suspended    boolean NOT NULL,
  needs_attention boolean NOT NULL,
  last_event      text,
  last_error      text,
  output          text,
  head            text NOT NULL,
  parent          text,
  PRIMARY KEY (namespace, id)
);
CREATE INDEX instance_waiting ON {schema}.instance (namespace, updated_at) WHERE pending > 0;
CREATE INDEX instance_due ON {schema}.instance (namespace, next_due) WHERE next_due IS NOT NULL;

CREATE TABLE {schema}.inbox (
  namespace   text COLLATE "C" NOT NULL,
  instance    text COLLATE "C" NOT NULL,
  seq         bigint NOT NULL,
  event_id    text COLLATE "C" NOT NULL,
  kind        text NOT NULL,
  body        text,
  target      text,
  digest      text NOT NULL,
  actor       text,
  status      text NOT NULL,
  received_at bigint NOT NULL,
  handled_at  bigint,
  version     bigint,
  receipt     text,
  error       text,
  PRIMARY KEY (namespace, instance, seq)
);
CREATE UNIQUE INDEX inbox_event ON {schema}.inbox (namespace, instance, event_id);
CREATE INDEX inbox_waiting ON {schema}.inbox (namespace, instance, seq) WHERE status IN ('accepted', 'dead');

CREATE TABLE {schema}.log (
  namespace      text COLLATE "C" NOT NULL,
  instance       text COLLATE "C" NOT NULL,
  version        bigint NOT NULL,
  at             bigint NOT NULL,
  kind           text NOT NULL,
  event_id       text NOT NULL,
  event_type     text,
  actor          text,
  reason         text,
  before         text NOT NULL,
  after          text NOT NULL,
  definition     text NOT NULL,
  implementation text,
  payload        text,
  salt           text,
  payload_hash   text NOT NULL,
  state_hash     text NOT NULL,
  previous       text NOT NULL,
  hash           text NOT NULL,
  PRIMARY KEY (namespace, instance, version)
);

CREATE TABLE {schema}.effect (
  place        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace    text COLLATE "C" NOT NULL,
  instance     text COLLATE "C" NOT NULL,
  id           text COLLATE "C" NOT NULL UNIQUE,
  version      bigint NOT NULL,
  number       bigint NOT NULL,
  kind         text NOT NULL,
  name         text NOT NULL,
  session      bigint NOT NULL,
  key          text COLLATE "C" NOT NULL,
  given        text,
  policy       text NOT NULL,
  lane         text,
  definition   text COLLATE "C" NOT NULL,
  status       text NOT NULL,
  attempts     bigint NOT NULL,
  next_at      bigint NOT NULL,
  created_at   bigint NOT NULL,
  owner        text,
  fence        bigint NOT NULL,
  beat         bigint NOT NULL,
  called_at    bigint,
  is_cancelled boolean NOT NULL,
  external_id  text,
  result       text,
  error        text,
  settled_at   bigint,
  trace        text
);
CREATE INDEX effect_pending ON {schema}.effect (namespace, next_at, place) WHERE status = 'PENDING';
CREATE INDEX effect_open ON {schema}.effect (namespace, instance, place) WHERE status IN ('PENDING', 'RUNNING', 'UNKNOWN');
CREATE INDEX effect_key ON {schema}.effect (namespace, key);

CREATE TABLE {schema}.timer (
  namespace  text COLLATE "C" NOT NULL,
  instance   text COLLATE "C" NOT NULL,
  id         text NOT NULL,
  handle     bigint NOT NULL,
  due_at     bigint NOT NULL,
  event_type text NOT NULL,
  version    bigint NOT NULL,
  PRIMARY KEY (namespace, instance, handle)
);

CREATE TABLE {schema}.tombstone (
  namespace text COLLATE "C" NOT NULL,
  id        text COLLATE "C" NOT NULL,
  purged_at bigint NOT NULL,
  forget_at bigint NOT NULL,
  PRIMARY KEY (namespace, id)
);

-- The database's clock in ms. Declared stable though it is not: a statement needs one time, and its indexes.
CREATE FUNCTION {schema}.clock_ms() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- What a decision needs of an instance. Declared stable, so all of it is seen as it was at one moment.
CREATE FUNCTION {schema}.load_instance(p_namespace text, p_id text, p_event_id text, p_seen bigint, p_limit bigint,
  p_needs_effects boolean, p_now bigint, OUT now_ms bigint, OUT state text, OUT instance text, OUT known text, OUT waiting text,
  OUT effects text, OUT forget_at bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_instance {schema}.instance;
BEGIN
  now_ms := coalesce(p_now, {schema}.clock_ms());
  SELECT * INTO v_instance FROM {schema}.instance i WHERE i.namespace = p_namespace AND i.id = p_id;
  IF NOT FOUND THEN
    SELECT t.forget_at INTO forget_at FROM {schema}.tombstone t WHERE t.namespace = p_namespace AND t.id = p_id;
    IF FOUND AND p_event_id IS NOT NULL THEN
      SELECT row_to_json(b)::text INTO known FROM {schema}.inbox b
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
    SELECT row_to_json(b)::text INTO known FROM {schema}.inbox b
    WHERE b.namespace = p_namespace AND b.instance = p_id AND b.event_id = p_event_id;
  END IF;
  IF v_instance.pending > 0 THEN
    SELECT json_agg(w ORDER BY w.seq)::text INTO waiting FROM (
      SELECT * FROM {schema}.inbox b WHERE b.namespace = p_namespace AND b.instance = p_id AND b.status = 'accepted'
      ORDER BY b.seq LIMIT p_limit
    ) w;
  END IF;
  IF p_needs_effects THEN
    SELECT json_agg(e ORDER BY e.place)::text INTO effects FROM {schema}.effect e
    WHERE e.namespace = p_namespace AND e.instance = p_id AND e.status IN ('PENDING', 'RUNNING', 'UNKNOWN');
  END IF;
END $$;

-- Withdraw what nobody has begun for actors that are over (NULL: all of an instance), and tell those that run.
-- Rows are locked in one order everywhere, so that no two transactions wait for each other.
CREATE FUNCTION {schema}.withdraw_effects(p_namespace text, p_instance text, p_sessions bigint[], p_now bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH found AS MATERIALIZED (
    SELECT e.place FROM {schema}.effect e
    WHERE e.namespace = p_namespace AND e.instance = p_instance AND e.kind IN ('invoke', 'resident', 'deliver')
      AND e.status IN ('PENDING', 'RUNNING', 'UNKNOWN') AND (p_sessions IS NULL OR e.session = ANY (p_sessions))
    ORDER BY e.place FOR UPDATE
  )
  UPDATE {schema}.effect e SET is_cancelled = true,
    status = CASE e.status WHEN 'PENDING' THEN 'WITHDRAWN' ELSE e.status END,
    settled_at = CASE e.status WHEN 'PENDING' THEN p_now ELSE e.settled_at END
  FROM found WHERE e.place = found.place;
END $$;

-- Move an effect on if its row is as the sender thinks; whether it was. What is to be tried again is withdrawn if its state was left.
CREATE FUNCTION {schema}.move_effect(p_settlement jsonb, p_now bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE {schema}.effect e SET status = CASE WHEN s.status = 'PENDING' AND e.is_cancelled THEN 'WITHDRAWN' ELSE s.status END,
    next_at = coalesce(s.next_at, e.next_at), result = s.result, error = s.error,
    external_id = coalesce(s.external_id, e.external_id), owner = NULL,
    settled_at = CASE WHEN s.status = 'UNKNOWN' OR (s.status = 'PENDING' AND NOT e.is_cancelled) THEN NULL ELSE p_now END
  FROM jsonb_to_record(p_settlement) AS s (namespace text, id text, fence bigint, was text[], status text, beat bigint,
    next_at bigint, result text, error text, external_id text)
  WHERE e.namespace = s.namespace AND e.id = s.id AND e.fence = s.fence AND e.status = ANY (s.was)
    AND (s.beat IS NULL OR e.beat = s.beat);
  RETURN FOUND;
END $$;

-- The same as a transaction of its own, with the event for the instance. The instance is locked first, as a commit does.
CREATE FUNCTION {schema}.settle_effect(p_settlement jsonb, p_outcome jsonb, p_now bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_row {schema}.inbox;
BEGIN
  IF p_outcome IS NOT NULL THEN
    v_row := jsonb_populate_record(NULL::{schema}.inbox, p_outcome);
    PERFORM 1 FROM {schema}.instance i WHERE i.namespace = v_row.namespace AND i.id = v_row.instance FOR NO KEY UPDATE;
  END IF;
  IF NOT {schema}.move_effect(p_settlement, coalesce(p_now, {schema}.clock_ms())) THEN
    RETURN false;
  END IF;
  IF p_outcome IS NOT NULL THEN
    UPDATE {schema}.instance i SET next_seq = i.next_seq + 1, revision = i.revision + 1,
      pending = i.pending + CASE v_row.status WHEN 'accepted' THEN 1 ELSE 0 END,
      needs_attention = i.needs_attention OR v_row.status <> 'accepted'
    WHERE i.namespace = v_row.namespace AND i.id = v_row.instance RETURNING i.next_seq - 1 INTO v_row.seq;
    IF FOUND THEN
      INSERT INTO {schema}.inbox SELECT v_row.*;
    END IF;
  END IF;
  RETURN true;
END $$;

-- Write what was decided: 'ok', 'conflict' (the instance was changed by another writer) or 'moved:' and the id of an effect
-- that is not as the operator thinks. In the last two cases nothing is written. An effect gets its place while the instance is
-- locked, so places of one instance are in the order of its versions.
CREATE FUNCTION {schema}.apply_commit(p_expected bigint, p_instance jsonb, p_state text, p_writes jsonb, p_now bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  v_new {schema}.instance := jsonb_populate_record(NULL::{schema}.instance, p_instance);
  v_settlement jsonb;
  v_count bigint;
BEGIN
  IF p_expected IS NULL THEN
    PERFORM 1 FROM {schema}.instance i WHERE i.namespace = v_new.namespace AND i.id = v_new.id;
    IF FOUND THEN
      RETURN 'conflict';
    END IF;
  ELSE
    PERFORM 1 FROM {schema}.instance i
    WHERE i.namespace = v_new.namespace AND i.id = v_new.id AND i.revision = p_expected FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RETURN 'conflict';
    END IF;
  END IF;
  FOR v_settlement IN SELECT value FROM jsonb_array_elements(p_writes -> 'settled') LOOP
    PERFORM 1 FROM {schema}.effect e,
      jsonb_to_record(v_settlement) AS s (namespace text, id text, fence bigint, was text[], beat bigint)
    WHERE e.namespace = s.namespace AND e.id = s.id AND e.fence = s.fence AND e.status = ANY (s.was)
      AND (s.beat IS NULL OR e.beat = s.beat)
    FOR UPDATE OF e;
    IF NOT FOUND THEN
      RETURN 'moved:' || (v_settlement ->> 'id');
    END IF;
  END LOOP;
  IF p_writes ? 'renamed' THEN
    PERFORM 1 FROM {schema}.effect e JOIN jsonb_populate_recordset(NULL::{schema}.effect, p_writes -> 'renamed') r
      ON e.namespace = r.namespace AND e.id = r.id AND e.status = r.status AND e.fence = r.fence
    ORDER BY e.place FOR UPDATE OF e;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> jsonb_array_length(p_writes -> 'renamed') THEN
      RETURN 'conflict';  -- somebody has claimed or settled one since it was loaded
    END IF;
  END IF;
  PERFORM {schema}.write_instance(p_expected, v_new, p_state, p_writes -> 'definition');
  PERFORM {schema}.write_rows(v_new.namespace, v_new.id, p_writes);
  PERFORM {schema}.write_work(v_new, p_writes, coalesce(p_now, {schema}.clock_ms()));
  RETURN 'ok';
END $$;

CREATE FUNCTION {schema}.write_instance(p_expected bigint, p_new {schema}.instance, p_state text, p_definition jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF p_definition IS NOT NULL THEN
    INSERT INTO {schema}.definition SELECT * FROM jsonb_populate_record(NULL::{schema}.definition, p_definition)
    ON CONFLICT (hash) DO NOTHING;
  END IF;
  p_new.state := p_state;
  IF p_expected IS NULL THEN
    INSERT INTO {schema}.instance SELECT p_new.*;
  ELSE
    UPDATE {schema}.instance i SET definition = p_new.definition, status = p_new.status, version = p_new.version,
      revision = p_new.revision, state = coalesce(p_new.state, i.state), configuration = p_new.configuration,
      entered_at = p_new.entered_at, updated_at = p_new.updated_at, next_seq = p_new.next_seq, pending = p_new.pending,
      next_due = p_new.next_due, is_suspended = p_new.is_suspended, needs_attention = p_new.needs_attention,
      last_event = p_new.last_event, last_error = p_new.last_error, output = p_new.output, head = p_new.head
    WHERE i.namespace = p_new.namespace AND i.id = p_new.id;
  END IF;
END $$;

CREATE FUNCTION {schema}.write_rows(p_namespace text, p_instance text, p_writes jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF p_writes ? 'arrived' THEN
    INSERT INTO {schema}.inbox SELECT * FROM jsonb_populate_recordset(NULL::{schema}.inbox, p_writes -> 'arrived');
  END IF;
  IF p_writes ? 'handled' THEN
    UPDATE {schema}.inbox b SET status = h.status, handled_at = h.handled_at, version = h.version, receipt = h.receipt, error = h.error
    FROM jsonb_populate_recordset(NULL::{schema}.inbox, p_writes -> 'handled') h
    WHERE b.namespace = p_namespace AND b.instance = p_instance AND b.seq = h.seq;
  END IF;
  IF p_writes ? 'log' THEN
    INSERT INTO {schema}.log SELECT * FROM jsonb_populate_recordset(NULL::{schema}.log, p_writes -> 'log');
  END IF;
END $$;

CREATE FUNCTION {schema}.write_work(p_new {schema}.instance, p_writes jsonb, p_now bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_settlement jsonb;
BEGIN
  FOR v_settlement IN SELECT value FROM jsonb_array_elements(p_writes -> 'settled') LOOP
    PERFORM {schema}.move_effect(v_settlement, p_now);
  END LOOP;
  IF p_writes ? 'withdrawn' THEN
    PERFORM {schema}.withdraw_effects(p_new.namespace, p_new.id,
      ARRAY(SELECT value::bigint FROM jsonb_array_elements_text(p_writes -> 'withdrawn')), p_new.updated_at);
  END IF;
  IF p_writes ? 'timers_gone' THEN
    DELETE FROM {schema}.timer t WHERE t.namespace = p_new.namespace AND t.instance = p_new.id
      AND t.handle IN (SELECT value::bigint FROM jsonb_array_elements_text(p_writes -> 'timers_gone'));
  END IF;
  IF p_writes ? 'renamed' THEN
    UPDATE {schema}.effect e SET definition = r.definition, name = r.name
    FROM jsonb_populate_recordset(NULL::{schema}.effect, p_writes -> 'renamed') r
    WHERE e.namespace = r.namespace AND e.id = r.id;
  END IF;
  IF p_writes ? 'effects' THEN
    INSERT INTO {schema}.effect (namespace, instance, id, version, number, kind, name, session, key, given, policy, lane,
      definition, status, attempts, next_at, created_at, owner, fence, beat, called_at, is_cancelled, external_id, result, error,
      settled_at, trace)
    SELECT r.namespace, r.instance, r.id, r.version, r.number, r.kind, r.name, r.session, r.key, r.given, r.policy, r.lane,
      r.definition, r.status, r.attempts, r.next_at, r.created_at, r.owner, r.fence, r.beat, r.called_at, r.is_cancelled,
      r.external_id, r.result, r.error, r.settled_at, r.trace
    FROM jsonb_populate_recordset(NULL::{schema}.effect, p_writes -> 'effects') r ORDER BY r.version, r.number;
  END IF;
  IF p_writes ? 'timers_set' THEN
    INSERT INTO {schema}.timer SELECT * FROM jsonb_populate_recordset(NULL::{schema}.timer, p_writes -> 'timers_set');
  END IF;
  IF p_writes ? 'closes' THEN
    PERFORM {schema}.withdraw_effects(p_new.namespace, p_new.id, NULL, p_new.updated_at);
    DELETE FROM {schema}.timer t WHERE t.namespace = p_new.namespace AND t.instance = p_new.id;
  END IF;
  IF p_writes ? 'erases' THEN
    UPDATE {schema}.log l SET payload = NULL, salt = NULL
    WHERE l.namespace = p_new.namespace AND l.instance = p_new.id AND l.version < p_new.version;
    UPDATE {schema}.inbox b SET body = NULL, error = NULL WHERE b.namespace = p_new.namespace AND b.instance = p_new.id;
    UPDATE {schema}.effect e SET given = NULL, result = NULL, error = NULL
    WHERE e.namespace = p_new.namespace AND e.instance = p_new.id;
  END IF;
END $$;

-- The data come from a backup: what was open then may have been done since. How many effects that were.
CREATE FUNCTION {schema}.mark_restored() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_count bigint;
BEGIN
  UPDATE {schema}.meta SET value = (value::bigint + 1)::text WHERE name = 'epoch';
  UPDATE {schema}.effect SET status = 'PENDING', owner = NULL, fence = fence + 1
  WHERE status IN ('PENDING', 'RUNNING') AND kind IN ('resident', 'deliver', 'send');
  UPDATE {schema}.effect SET status = 'UNKNOWN', owner = NULL, fence = fence + 1,
    error = 'the data are from a backup: nobody knows whether it was done after that was made'
  WHERE status IN ('PENDING', 'RUNNING') AND kind NOT IN ('resident', 'deliver', 'send');
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;

-- Delete instances that are over, and what was kept of earlier ones until now. How many instances.
CREATE FUNCTION {schema}.purge(p_namespace text, p_before bigint, p_forget_at bigint, p_limit bigint, p_now bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint := coalesce(p_now, {schema}.clock_ms());
  v_ids text[];
BEGIN
  DELETE FROM {schema}.inbox b USING {schema}.tombstone t
  WHERE t.namespace = p_namespace AND t.forget_at <= v_now AND b.namespace = t.namespace AND b.instance = t.id;
  DELETE FROM {schema}.tombstone t WHERE t.namespace = p_namespace AND t.forget_at <= v_now;
  SELECT array_agg(o.id) INTO v_ids FROM (
    SELECT i.id FROM {schema}.instance i
    WHERE i.namespace = p_namespace AND i.status <> 'active' AND i.pending = 0 AND i.updated_at < p_before
      AND NOT EXISTS (SELECT 1 FROM {schema}.effect e WHERE e.namespace = i.namespace AND e.instance = i.id
        AND e.status IN ('PENDING', 'RUNNING', 'UNKNOWN'))
    ORDER BY i.id LIMIT p_limit FOR UPDATE OF i SKIP LOCKED
  ) o;
  IF v_ids IS NULL THEN
    RETURN 0;
  END IF;
  INSERT INTO {schema}.tombstone SELECT p_namespace, unnest(v_ids), v_now, p_forget_at;
  DELETE FROM {schema}.log l WHERE l.namespace = p_namespace AND l.instance = ANY (v_ids);
  DELETE FROM {schema}.effect e WHERE e.namespace = p_namespace AND e.instance = ANY (v_ids);
  UPDATE {schema}.inbox b SET body = NULL, error = NULL WHERE b.namespace = p_namespace AND b.instance = ANY (v_ids);
  DELETE FROM {schema}.instance i WHERE i.namespace = p_namespace AND i.id = ANY (v_ids);
  RETURN cardinality(v_ids);
END $$;

-- Take effects. One claim of a namespace at a time: what stands in the way of an effect is another row, which no lock of its own
-- row would show. Each statement here sees what was committed before it began, so after the wait all earlier claims are seen.
CREATE FUNCTION {schema}.claim_effects(p_namespace text, p_owner text, p_definitions text[], p_limit bigint, p_now bigint)
RETURNS SETOF {schema}.effect LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('{schema}.claim'), hashtext(p_namespace));
  RETURN QUERY
  WITH free AS MATERIALIZED (
    SELECT e.place FROM {schema}.effect e JOIN {schema}.instance i ON i.namespace = e.namespace AND i.id = e.instance
    WHERE e.namespace = p_namespace AND e.status = 'PENDING' AND e.kind <> 'deliver' AND e.next_at <= coalesce(p_now, {schema}.clock_ms())
      AND NOT i.is_suspended AND e.definition = ANY (p_definitions)
      AND NOT EXISTS (SELECT 1 FROM {schema}.effect o WHERE o.namespace = e.namespace AND o.instance = e.instance
        AND o.lane = e.lane AND o.status IN ('PENDING', 'RUNNING', 'UNKNOWN') AND o.place < e.place)
      AND NOT EXISTS (SELECT 1 FROM {schema}.effect k WHERE k.namespace = e.namespace AND k.key = e.key AND k.place <> e.place
        AND (k.status IN ('RUNNING', 'UNKNOWN') OR (k.status = 'PENDING' AND k.place < e.place)))
    ORDER BY e.next_at, e.place LIMIT p_limit FOR UPDATE OF e SKIP LOCKED
  )
  UPDATE {schema}.effect e SET status = 'RUNNING', owner = p_owner, fence = e.fence + 1, attempts = e.attempts + 1, beat = 0,
    called_at = NULL
  FROM free WHERE e.place = free.place RETURNING e.*;
END $$;
