// Functions of the queue: who runs a response. See `../../standing.ts` for the standing of a run, whose rules are written
// here once more, so that a claim is one round trip; `../../same-results.test.ts` compares them.

const isActive = "r.status IN ('queued', 'in_progress')";

/** Whether a response `r` that is free to claim is to be ended, and not run. */
const isToEnd = "(NOT r.is_background OR r.is_cancel_requested)";

/** Whether a response `r` must run alone. One that is only to be ended does not run at all. */
const isSuspect = `(NOT ${isToEnd} AND (r.suspicion > 0 OR r.worker IS NOT NULL))`;

/** The attempts of a response `r` after a crash, if there was one. */
const blame = "(r.attempts - (r.worker IS NOT NULL AND NOT r.is_apart)::integer)";

/** No older response of the same conversation is left, or `r` is only to be cancelled. */
const isNextInConversation = (
  s: string,
): string => `(r.conversation_id IS NULL OR r.is_cancel_requested OR NOT EXISTS (
  SELECT 1 FROM ${s}.responses o WHERE o.owner = r.owner AND o.conversation_id = r.conversation_id
    AND o.status IN ('queued', 'in_progress') AND o.key < r.key))`;

const isFree = (s: string): string =>
  `${isActive} AND (r.worker IS NULL OR r.lease_until_ms <= now_ms)
    AND (r.not_before_ms <= now_ms OR ${isToEnd}) AND ${isNextInConversation(s)}`;

/** `s`: the quoted name of the schema. */
export const queueFunctions = (s: string): string => `
CREATE FUNCTION ${s}.claim_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
  suspects text := op ->> 'suspects';
  only_to_end boolean := (op -> 'onlyToEnd')::boolean;
  limit_ integer := (op -> 'limit')::integer;
  claimed jsonb;
BEGIN
  IF (op -> 'isRetry')::boolean THEN
    -- It may have been answered before, to nobody: what it took must not be left waiting for its lease to expire.
    SELECT array_agg(r.key ORDER BY r.created_at_ms, r.id) INTO keys FROM ${s}.responses r
      WHERE ${isActive} AND r.last_write = op ->> 'token' AND r.worker = op ->> 'worker';
  END IF;
  IF keys IS NULL THEN
    IF op ? 'id' THEN
      SELECT array_agg(x.key) INTO keys FROM (SELECT r.key FROM ${s}.responses r
        WHERE r.id = op ->> 'id' AND ${isFree(s)}
          AND (suspects IS NULL OR ${isSuspect} = (suspects = 'only')) AND (NOT only_to_end OR ${isToEnd})
        LIMIT limit_ FOR UPDATE SKIP LOCKED) x;
    ELSIF suspects = 'only' THEN
      SELECT array_agg(x.key) INTO keys FROM (SELECT r.key FROM ${s}.responses r
        WHERE ${isFree(s)} AND ${isSuspect} AND (NOT only_to_end OR ${isToEnd})
        ORDER BY ${blame}, r.created_at_ms, r.id LIMIT limit_ FOR UPDATE SKIP LOCKED) x;
    ELSE
      SELECT array_agg(x.key) INTO keys FROM (SELECT r.key FROM ${s}.responses r
        WHERE ${isFree(s)} AND (suspects IS NULL OR NOT ${isSuspect}) AND (NOT only_to_end OR ${isToEnd})
        ORDER BY r.priority DESC, r.created_at_ms, r.id LIMIT limit_ FOR UPDATE SKIP LOCKED) x;
    END IF;
    UPDATE ${s}.responses r SET
        -- After a crash, if a lease has expired, and then started again.
        attempts = CASE WHEN r.worker IS NULL OR r.is_apart THEN r.attempts ELSE greatest(0, r.attempts - 1) END + 1,
        suspicion = r.suspicion + (r.worker IS NOT NULL)::integer,
        is_apart = ${isSuspect},
        worker = op ->> 'worker', node = (op ->> 'node')::integer, fence = r.fence + 1,
        lease_until_ms = now_ms + (op -> 'leaseMs')::bigint, last_write = op ->> 'token'
      WHERE r.key = ANY (keys);
  END IF;
  SELECT jsonb_agg(to_jsonb(r) || jsonb_build_object('request', q.data) ORDER BY array_position(keys, r.key))
    INTO claimed FROM ${s}.responses r JOIN ${s}.requests q ON q.response_key = r.key WHERE r.key = ANY (keys);
  RETURN coalesce(claimed, '[]');
END $$;

CREATE FUNCTION ${s}.renew_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE held jsonb;
BEGIN
  -- In one order for all, so that two renewals cannot wait for each other.
  PERFORM 1 FROM ${s}.responses WHERE id IN (SELECT l ->> 'responseId' FROM jsonb_array_elements(op -> 'leases') l)
    ORDER BY id FOR UPDATE;
  WITH renewed AS (
    UPDATE ${s}.responses r SET lease_until_ms = now_ms + (op -> 'leaseMs')::bigint,
        node = (op ->> 'node')::integer
      FROM jsonb_array_elements(op -> 'leases') WITH ORDINALITY l (lease, n)
      WHERE r.id = lease ->> 'responseId' AND r.fence = (lease -> 'fence')::integer AND r.worker IS NOT NULL
      RETURNING r.id, r.is_cancel_requested, n)
  SELECT jsonb_agg(jsonb_build_object('responseId', id, 'isCancelRequested', is_cancel_requested) ORDER BY n)
    INTO held FROM renewed;
  RETURN coalesce(held, '[]');
END $$;

CREATE FUNCTION ${s}.release_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  UPDATE ${s}.responses r SET worker = NULL, node = NULL,
      attempts = CASE WHEN (op -> 'forgetsAttempt')::boolean THEN greatest(0, r.attempts - 1) ELSE r.attempts END,
      suspicion = CASE WHEN r.is_apart THEN r.suspicion ELSE 0 END, is_apart = false
    WHERE r.id = op ->> 'id' AND r.fence = (op -> 'fence')::integer AND r.worker IS NOT NULL;
  RETURN '{}';
END $$;

CREATE FUNCTION ${s}.trust_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  UPDATE ${s}.responses r SET is_apart = false,
      attempts = CASE WHEN (op -> 'hasProgressed')::boolean THEN 0 ELSE r.attempts END,
      suspicion = CASE WHEN (op -> 'hasProgressed')::boolean THEN 0 ELSE r.suspicion END,
      deaths = CASE WHEN (op -> 'hasProgressed')::boolean THEN 0 ELSE r.deaths END
    WHERE r.id = op ->> 'id' AND r.fence = (op -> 'fence')::integer AND r.worker IS NOT NULL;
  RETURN '{}';
END $$;

-- Ends the leases of nodes. With "is_crash", their runs were at work when a process died. The first deaths of a node are
-- nobody's fault: machines are switched off. A run at which nodes die again and again waits longer each time, and is a
-- suspect.
CREATE FUNCTION ${s}.end_leases_v1(ended integer[], is_crash boolean) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE count_ integer;
BEGIN
  PERFORM 1 FROM ${s}.responses r WHERE ${isActive} AND r.node = ANY (ended) AND r.worker IS NOT NULL
    ORDER BY r.id FOR UPDATE;
  UPDATE ${s}.responses r SET worker = NULL, node = NULL, is_apart = false,
      attempts = CASE WHEN is_crash AND r.is_apart THEN r.attempts ELSE greatest(0, r.attempts - 1) END,
      deaths = r.deaths + is_crash::integer,
      not_before_ms = CASE WHEN is_crash AND r.deaths > 0
        THEN (extract(epoch FROM clock_timestamp()) * 1000)::bigint + least(60000, 500 * 2 ^ r.deaths)::bigint
        ELSE r.not_before_ms END,
      suspicion = r.suspicion + (is_crash AND (r.is_apart OR r.deaths >= 2))::integer
    WHERE ${isActive} AND r.node = ANY (ended) AND r.worker IS NOT NULL;
  GET DIAGNOSTICS count_ = ROW_COUNT;
  RETURN count_;
END $$;

-- A node begins. With "with_lock", its session holds the lock of its key before anybody can see it.
CREATE FUNCTION ${s}.join_v1(lock_class integer, with_lock boolean) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE me integer;
BEGIN
  INSERT INTO ${s}.nodes (started_at, seen_at, has_lock) VALUES (clock_timestamp(), clock_timestamp(), with_lock)
    RETURNING key INTO me;
  IF with_lock THEN PERFORM pg_advisory_lock(lock_class, me); END IF;
  RETURN me;
END $$;

-- One beat of a node: says that it lives, and ends the leases of those that do not. A session that has ended is seen at
-- once, by its lock; one that is frozen or cut off after "dead_after_ms", by the clock of the database.
CREATE FUNCTION ${s}.beat_v1(me integer, lock_class integer, dead_after_ms integer) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  is_alive boolean;
  dead integer[];
  freed integer := 0;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE ${s}.nodes SET seen_at = clock_timestamp() WHERE key = me;
  is_alive := FOUND;
  WITH gone AS (DELETE FROM ${s}.nodes WHERE key IN (SELECT n.key FROM ${s}.nodes n
      WHERE n.key <> me AND (n.seen_at < clock_timestamp() - dead_after_ms * interval '1 ms'
        OR (n.has_lock AND NOT EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory'
          AND l.classid::bigint = lock_class AND l.objid::bigint = n.key AND l.objsubid = 2 AND l.granted
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))))
      FOR UPDATE SKIP LOCKED)
    RETURNING key)
  SELECT array_agg(key) INTO dead FROM gone;
  IF dead IS NOT NULL THEN
    freed := ${s}.end_leases_v1(dead, true);
    -- A node that was cut off may have sessions left: what they still try would be refused, but need not wait for that.
    PERFORM pg_terminate_backend(a.pid) FROM pg_stat_activity a
      WHERE a.datname = current_database() AND a.usename = current_user AND a.pid <> pg_backend_pid()
        AND a.application_name IN (SELECT 'rondo node ' || k FROM unnest(dead) k);
  END IF;
  RETURN jsonb_build_object('isAlive', is_alive, 'dead', coalesce(to_jsonb(dead), '[]'), 'freed', freed);
END $$;

CREATE FUNCTION ${s}.leave_v1(me integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM ${s}.nodes WHERE key = me;
  RETURN ${s}.end_leases_v1(ARRAY[me], false);
END $$;
`;
