// Functions that write to responses. They never raise an error for what the rules refuse: they say what they found, and
// `../../rules.ts` says what is wrong with it. Each is given the time, and a token that names the call.
//
// A released function never changes, as older nodes may call it: add another, with a higher number.

import { queueFunctions } from "./queue-functions.ts";

const isActive = "status IN ('queued', 'in_progress')";

/** Values for lists. A response that begins a chain names no thread: it is the thread. */
const listed = (s: string): string => `,
      new ->> 'title', new ->> 'source',
      CASE WHEN place IS NOT NULL THEN place ->> 'id' WHEN new ->> 'previousResponseId' IS NOT NULL THEN coalesce(
        (SELECT coalesce(p.thread_id, p.id) FROM ${s}.responses p
          WHERE p.id = new ->> 'previousResponseId' AND p.owner = owner_), new ->> 'previousResponseId') END`;

/** The second version also keeps what lists show. */
const create = (s: string, version: 1 | 2): string => `
CREATE FUNCTION ${s}.create_v${version}(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  new jsonb := op -> 'response';
  place jsonb := op -> 'place';
  owner_ text := new ->> 'owner';
  ids text[] := ARRAY(SELECT i ->> 'id' FROM jsonb_array_elements(op -> 'input') i);
  taken text[];
  is_taken boolean;
  is_key_taken boolean := false;
  found_place jsonb;
  is_busy boolean;
  version_ integer;
  is_leased boolean := new ->> 'status' = 'in_progress';
  new_key bigint;
  old record;
BEGIN
  SELECT last_write, owner, created_at_ms INTO old FROM ${s}.responses WHERE id = new ->> 'id';
  is_taken := FOUND;
  -- It was created before, and its answer did not arrive. Another node may have claimed it since then, which leaves no
  -- token; its job was sent with it.
  IF is_taken AND (old.last_write = op ->> 'token' OR ((op -> 'isRetry')::boolean AND old.owner = owner_
    AND old.created_at_ms = (new -> 'createdAtMs')::bigint))
  THEN
    RETURN jsonb_build_object('fence', CASE WHEN is_leased THEN 1 ELSE 0 END);
  END IF;
  SELECT array_agg(i.id) INTO taken FROM unnest(ids) given (id)
    JOIN ${s}.items i ON i.ref = md5(length(owner_)::text || ':' || owner_ || given.id)::uuid;
  IF op ? 'key' THEN
    is_key_taken := EXISTS (SELECT 1 FROM ${s}.idempotency_keys
      WHERE ref = md5(length(owner_)::text || ':' || owner_ || (op #>> '{key,key}'))::uuid AND until_ms > now_ms);
  END IF;
  IF place IS NOT NULL THEN
    -- Locked until the end: of two that begin at once, the second sees the first.
    SELECT c.version INTO version_ FROM ${s}.conversations c
      WHERE c.owner = owner_ AND c.id = place ->> 'id' FOR UPDATE;
    IF FOUND THEN
      is_busy := EXISTS (SELECT 1 FROM ${s}.responses r
        WHERE r.owner = owner_ AND r.conversation_id = place ->> 'id' AND r.${isActive});
      found_place := jsonb_build_object('version', version_, 'isBusy', is_busy);
    END IF;
  END IF;
  IF is_taken OR taken IS NOT NULL OR is_key_taken OR (op -> 'isInvalid')::boolean
    OR (place IS NOT NULL AND (found_place IS NULL
      OR (is_busy AND (is_leased OR (place -> 'mustBeFree')::boolean))
      OR (place ? 'version' AND (place -> 'version')::integer <> version_)))
  THEN
    RETURN jsonb_build_object('refused', jsonb_build_object('isTaken', is_taken, 'taken', to_jsonb(taken),
      'isKeyTaken', is_key_taken, 'place', found_place));
  END IF;
  INSERT INTO ${s}.responses (id, owner, model, previous_response_id, conversation_id, status, is_background,
      is_closed, created_at_ms, worker, node, fence, lease_until_ms, priority, last_sequence, last_write${version === 1 ? "" : ",\n      title, source, thread_id"})
    VALUES (new ->> 'id', owner_, new ->> 'model', new ->> 'previousResponseId', place ->> 'id', new ->> 'status',
      (new -> 'background')::boolean, (new -> 'isClosed')::boolean, (new -> 'createdAtMs')::bigint,
      CASE WHEN is_leased THEN op ->> 'worker' END, CASE WHEN is_leased THEN (op ->> 'node')::integer END,
      CASE WHEN is_leased THEN 1 ELSE 0 END,
      CASE WHEN is_leased THEN now_ms + (op -> 'leaseMs')::bigint ELSE 0 END,
      coalesce((op -> 'priority')::integer, 0), jsonb_array_length(op -> 'events') - 1, op ->> 'token'${version === 1 ? "" : listed(s)})
    RETURNING key INTO new_key;
  INSERT INTO ${s}.requests (response_key, data, credentials)
    VALUES (new_key, op ->> 'request', op ->> 'credentials');
  INSERT INTO ${s}.items (response_key, is_output, position, turn, is_frozen, owner, id, data)
    SELECT new_key, false, n - 1, 0, true, owner_, i ->> 'id', i ->> 'data'
      FROM jsonb_array_elements(op -> 'input') WITH ORDINALITY given (i, n);
  IF jsonb_array_length(op -> 'events') > 0 THEN
    INSERT INTO ${s}.events (response_key, first_sequence, last_sequence, data)
      VALUES (new_key, 0, jsonb_array_length(op -> 'events') - 1,
        ARRAY(SELECT jsonb_array_elements_text(op -> 'events')));
  END IF;
  IF op ? 'key' THEN
    DELETE FROM ${s}.idempotency_keys WHERE ref IN (SELECT ref FROM ${s}.idempotency_keys
      WHERE until_ms <= now_ms LIMIT 20 FOR UPDATE SKIP LOCKED);
    INSERT INTO ${s}.idempotency_keys (owner, key, fingerprint, until_ms, response_key)
      VALUES (owner_, op #>> '{key,key}', op #>> '{key,fingerprint}',
        now_ms + (op #> '{key,keepMs}')::bigint, new_key)
      ON CONFLICT (ref) DO UPDATE SET fingerprint = excluded.fingerprint, until_ms = excluded.until_ms,
        response_key = excluded.response_key WHERE idempotency_keys.until_ms <= now_ms;
    -- Another node has kept it since it was looked for: nothing is done, and the next try sees it.
    IF NOT FOUND THEN
      RAISE EXCEPTION USING ERRCODE = 'unique_violation', MESSAGE = 'the idempotency key is taken';
    END IF;
  END IF;
  RETURN jsonb_build_object('fence', CASE WHEN is_leased THEN 1 ELSE 0 END, 'hasJob', true);
END $$;
`;

const commit = (s: string): string => `
CREATE FUNCTION ${s}.commit_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  run record;
  count_ integer := jsonb_array_length(op -> 'events');
  is_refused boolean;
  known jsonb;
  change jsonb := op -> 'update';
  is_over boolean := (op -> 'isOver')::boolean;
  conversation bigint;
BEGIN
  -- From here on nobody else can change the response: the fence holds for all that follows.
  UPDATE ${s}.responses r SET last_sequence = r.last_sequence + count_, last_write = op ->> 'token'
    WHERE r.id = op ->> 'id' AND r.fence = (op -> 'fence')::integer AND r.worker IS NOT NULL
      AND r.last_write IS DISTINCT FROM op ->> 'token'
      AND op -> 'from' ? r.status
      AND (count_ = 0 OR r.last_sequence + 1 = (op -> 'first')::integer)
      AND NOT (op -> 'isInvalid')::boolean
    RETURNING r.key, r.owner, r.conversation_id, r.is_background INTO run;
  is_refused := NOT FOUND;
  IF is_refused OR jsonb_array_length(op -> 'output') > 0 THEN
    IF is_refused THEN
      SELECT r.key, r.owner, r.status, r.last_sequence, r.last_write, r.is_background INTO run
        FROM ${s}.responses r WHERE r.id = op ->> 'id' AND r.fence = (op -> 'fence')::integer AND r.worker IS NOT NULL FOR UPDATE;
      IF NOT FOUND THEN RETURN '{"isLost": true}'; END IF;
      -- It was written before, and its answer did not arrive.
      IF run.last_write = op ->> 'token' THEN
        RETURN jsonb_build_object('hasJob', run.is_background);
      END IF;
    END IF;
    SELECT jsonb_agg(DISTINCT jsonb_build_object('id', i.id, 'isFrozen', i.is_frozen,
        'index', CASE WHEN i.response_key = run.key AND i.is_output THEN i.position END))
      INTO known
      FROM jsonb_array_elements(op -> 'output') o JOIN ${s}.items i
        ON (i.response_key = run.key AND i.is_output AND i.position = (o -> 'index')::integer)
        OR i.ref = md5(length(run.owner)::text || ':' || run.owner || (o ->> 'id'))::uuid;
    IF NOT is_refused AND known IS NOT NULL THEN
      -- An item may only be replaced at its own index, while it is not finished.
      is_refused := EXISTS (SELECT 1 FROM jsonb_array_elements(known) k WHERE (k -> 'isFrozen')::boolean
        OR k -> 'index' = 'null' OR NOT EXISTS (SELECT 1 FROM jsonb_array_elements(op -> 'output') o
          WHERE o -> 'index' = k -> 'index' AND o -> 'id' = k -> 'id'));
      IF is_refused THEN
        -- What was changed above is taken back.
        UPDATE ${s}.responses r SET last_sequence = r.last_sequence - count_, last_write = NULL
          WHERE r.key = run.key;
        SELECT r.key, r.owner, r.status, r.last_sequence, r.last_write INTO run FROM ${s}.responses r
          WHERE r.key = run.key;
      END IF;
    END IF;
    IF is_refused THEN
      RETURN jsonb_build_object('refused', jsonb_build_object('status', run.status,
        'lastSequence', run.last_sequence, 'items', coalesce(known, '[]')));
    END IF;
    INSERT INTO ${s}.items AS old (response_key, is_output, position, turn, is_frozen, owner, id, data)
      SELECT DISTINCT ON (o -> 'index') run.key, true, (o -> 'index')::integer, (o -> 'turn')::integer,
          (o -> 'isFrozen')::boolean, run.owner, o ->> 'id', o ->> 'data'
        FROM jsonb_array_elements(op -> 'output') WITH ORDINALITY given (o, n) ORDER BY o -> 'index', n DESC
      ON CONFLICT (response_key, is_output, position)
      DO UPDATE SET turn = excluded.turn, is_frozen = excluded.is_frozen, data = excluded.data;
  END IF;
  IF count_ > 0 THEN
    INSERT INTO ${s}.events (response_key, first_sequence, last_sequence, data)
      VALUES (run.key, (op -> 'first')::integer, (op -> 'first')::integer + count_ - 1,
        ARRAY(SELECT jsonb_array_elements_text(op -> 'events')));
  END IF;
  IF jsonb_array_length(op -> 'steps') > 0 THEN
    INSERT INTO ${s}.steps (response_key, data)
      VALUES (run.key, ARRAY(SELECT jsonb_array_elements_text(op -> 'steps')));
  END IF;
  IF change IS NOT NULL THEN
    UPDATE ${s}.responses r SET
        status = coalesce(change ->> 'status', r.status),
        completed_at_ms = coalesce((change -> 'completedAtMs')::bigint, r.completed_at_ms),
        ended_at_ms = CASE WHEN is_over
          THEN coalesce((change -> 'completedAtMs')::bigint, r.completed_at_ms, now_ms) ELSE r.ended_at_ms END,
        error = coalesce(change ->> 'error', r.error),
        incomplete_reason = coalesce(change ->> 'incompleteReason', r.incomplete_reason),
        usage = coalesce(change ->> 'usage', r.usage)
      WHERE r.key = run.key;
  END IF;
  IF is_over THEN
    UPDATE ${s}.requests SET credentials = NULL WHERE response_key = run.key AND credentials IS NOT NULL;
    IF run.conversation_id IS NOT NULL AND (op -> 'addsToConversation')::boolean THEN
      SELECT c.key INTO conversation FROM ${s}.conversations c
        WHERE c.owner = run.owner AND c.id = run.conversation_id FOR UPDATE;
      IF FOUND THEN
        WITH added AS (
          INSERT INTO ${s}.conversation_items (conversation_key, owner, id, response_id, turn, is_closed, data)
            SELECT conversation, i.owner, i.id, r.id, CASE WHEN i.is_output THEN i.turn END, r.is_closed, i.data
              FROM ${s}.responses r JOIN ${s}.items i ON i.response_key = r.key
              WHERE r.key = run.key ORDER BY i.is_output, i.position
            ON CONFLICT (ref) DO NOTHING RETURNING 1)
        UPDATE ${s}.conversations c SET version = c.version + 1
          WHERE c.key = conversation AND EXISTS (SELECT 1 FROM added);
      END IF;
    END IF;
  END IF;
  RETURN jsonb_build_object('hasJob', run.is_background);
END $$;
`;

/** A commit that also adds to the trace: once, also if its answer was lost and it is sent again. */
const commitTraced = (s: string): string => `
CREATE FUNCTION ${s}.commit_v2(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE result jsonb := ${s}.commit_v1(op, now_ms);
BEGIN
  IF op ? 'trace' AND NOT result ?| ARRAY['isLost', 'refused'] THEN
    INSERT INTO ${s}.traces (response_key, first, last, lines)
      SELECT r.key, (op #> '{trace,first}')::integer, (op #> '{trace,last}')::integer, op #>> '{trace,lines}'
        FROM ${s}.responses r WHERE r.id = op ->> 'id'
      ON CONFLICT DO NOTHING;
  END IF;
  RETURN result;
END $$;
`;

const remove = (s: string): string => `
CREATE FUNCTION ${s}.delete_responses_v1(keys bigint[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE removed integer;
BEGIN
  DELETE FROM ${s}.responses WHERE key = ANY (keys);
  GET DIAGNOSTICS removed = ROW_COUNT;
  DELETE FROM ${s}.requests WHERE response_key = ANY (keys);
  DELETE FROM ${s}.items WHERE response_key = ANY (keys);
  DELETE FROM ${s}.events WHERE response_key = ANY (keys);
  DELETE FROM ${s}.steps WHERE response_key = ANY (keys);
  DELETE FROM ${s}.idempotency_keys WHERE response_key = ANY (keys);
  RETURN removed;
END $$;

CREATE FUNCTION ${s}.remove_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  key_ bigint;
  has_job boolean;
BEGIN
  SELECT key, is_background INTO key_, has_job FROM ${s}.responses
    WHERE id = op ->> 'id' AND owner = op ->> 'owner' FOR UPDATE;
  IF NOT FOUND THEN RETURN jsonb_build_object('isRemoved', (op -> 'isRetry')::boolean); END IF;
  PERFORM ${s}.delete_responses_v1(ARRAY[key_]);
  RETURN jsonb_build_object('isRemoved', true, 'hasJob', has_job);
END $$;

CREATE FUNCTION ${s}.request_cancel_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE found_ jsonb;
BEGIN
  UPDATE ${s}.responses SET is_cancel_requested = true
    WHERE id = op ->> 'id' AND owner = op ->> 'owner' AND ${isActive};
  SELECT to_jsonb(r) || jsonb_build_object('request', q.data) INTO found_
    FROM ${s}.responses r JOIN ${s}.requests q ON q.response_key = r.key
    WHERE r.id = op ->> 'id' AND r.owner = op ->> 'owner';
  RETURN found_;
END $$;

-- On one node at a time, in small transactions that others need not wait for.
CREATE FUNCTION ${s}.expire_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
  ids text[];
BEGIN
  IF NOT pg_try_advisory_xact_lock((op -> 'lockClass')::integer, (op -> 'lock')::integer) THEN
    RETURN jsonb_build_object('ids', '[]'::jsonb);
  END IF;
  SELECT array_agg(x.key), array_agg(x.id) INTO keys, ids FROM (
    SELECT key, id FROM ${s}.responses WHERE ended_at_ms < (op -> 'beforeMs')::bigint
      LIMIT (op -> 'limit')::integer FOR UPDATE SKIP LOCKED) x;
  PERFORM ${s}.delete_responses_v1(keys);
  RETURN jsonb_build_object('ids', coalesce(to_jsonb(ids), '[]'));
END $$;

CREATE FUNCTION ${s}.keep_secret_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE kept text;
BEGIN
  INSERT INTO ${s}.secrets (name, value) VALUES (op ->> 'name', op ->> 'offered') ON CONFLICT DO NOTHING;
  SELECT value INTO kept FROM ${s}.secrets WHERE name = op ->> 'name';
  RETURN to_jsonb(kept);
END $$;

CREATE FUNCTION ${s}.check_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('transaction_read_only') = 'on' THEN
    RAISE EXCEPTION USING ERRCODE = 'read_only_sql_transaction', MESSAGE = 'the database is read-only';
  END IF;
  PERFORM pg_current_xact_id();
  RETURN '{}';
END $$;
`;

const conversations = (s: string): string => `
CREATE FUNCTION ${s}.add_items_v1(conversation bigint, owner_ text, items jsonb) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE taken text[];
BEGIN
  SELECT array_agg(i.id) INTO taken FROM jsonb_array_elements(items) given JOIN ${s}.conversation_items i
    ON i.ref = md5(length(owner_)::text || ':' || owner_ || (given ->> 'id'))::uuid;
  IF taken IS NOT NULL THEN RETURN taken; END IF;
  INSERT INTO ${s}.conversation_items (conversation_key, owner, id, is_closed, data)
    SELECT conversation, owner_, i ->> 'id', false, i ->> 'data'
      FROM jsonb_array_elements(items) WITH ORDINALITY given (i, n) ORDER BY n;
  IF jsonb_array_length(items) > 0 THEN
    UPDATE ${s}.conversations SET version = version + 1 WHERE key = conversation;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION ${s}.create_conversation_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  key_ bigint;
  taken text[];
BEGIN
  IF EXISTS (SELECT 1 FROM ${s}.conversations WHERE owner = op ->> 'owner' AND id = op ->> 'id') THEN
    RETURN CASE WHEN (op -> 'isRetry')::boolean THEN '{}'::jsonb ELSE '{"isTaken": true}'::jsonb END;
  END IF;
  SELECT array_agg(i.id) INTO taken FROM jsonb_array_elements(op -> 'items') given JOIN ${s}.conversation_items i
    ON i.ref = md5(length(op ->> 'owner')::text || ':' || (op ->> 'owner') || (given ->> 'id'))::uuid;
  IF taken IS NOT NULL OR (op -> 'isInvalid')::boolean THEN
    RETURN jsonb_build_object('taken', coalesce(to_jsonb(taken), '[]'));
  END IF;
  INSERT INTO ${s}.conversations (owner, id, created_at_ms, metadata)
    VALUES (op ->> 'owner', op ->> 'id', (op -> 'createdAtMs')::bigint, op ->> 'metadata') RETURNING key INTO key_;
  PERFORM ${s}.add_items_v1(key_, op ->> 'owner', op -> 'items');
  RETURN '{}';
END $$;

CREATE FUNCTION ${s}.update_conversation_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE found_ jsonb;
BEGIN
  UPDATE ${s}.conversations c SET metadata = op ->> 'metadata'
    WHERE c.owner = op ->> 'owner' AND c.id = op ->> 'id' RETURNING to_jsonb(c) INTO found_;
  RETURN found_;
END $$;

CREATE FUNCTION ${s}.remove_conversation_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE key_ bigint;
BEGIN
  DELETE FROM ${s}.conversations WHERE owner = op ->> 'owner' AND id = op ->> 'id' RETURNING key INTO key_;
  IF NOT FOUND THEN RETURN to_jsonb((op -> 'isRetry')::boolean); END IF;
  DELETE FROM ${s}.conversation_items WHERE conversation_key = key_;
  RETURN 'true';
END $$;

CREATE FUNCTION ${s}.add_conversation_items_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  key_ bigint;
  taken text[];
BEGIN
  SELECT key INTO key_ FROM ${s}.conversations WHERE owner = op ->> 'owner' AND id = op ->> 'id' FOR UPDATE;
  IF NOT FOUND THEN RETURN '{"isFound": false}'; END IF;
  IF (op -> 'isRetry')::boolean AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(op -> 'items') given
    WHERE NOT EXISTS (SELECT 1 FROM ${s}.conversation_items i WHERE i.conversation_key = key_
      AND i.ref = md5(length(op ->> 'owner')::text || ':' || (op ->> 'owner') || (given ->> 'id'))::uuid))
  THEN
    RETURN '{"isFound": true}';
  END IF;
  IF (op -> 'isInvalid')::boolean THEN
    SELECT array_agg(i.id) INTO taken FROM jsonb_array_elements(op -> 'items') given
      JOIN ${s}.conversation_items i
      ON i.ref = md5(length(op ->> 'owner')::text || ':' || (op ->> 'owner') || (given ->> 'id'))::uuid;
    RETURN jsonb_build_object('taken', coalesce(to_jsonb(taken), '[]'));
  END IF;
  taken := ${s}.add_items_v1(key_, op ->> 'owner', op -> 'items');
  IF taken IS NOT NULL THEN RETURN jsonb_build_object('taken', to_jsonb(taken)); END IF;
  RETURN '{"isFound": true}';
END $$;

CREATE FUNCTION ${s}.remove_conversation_item_v1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE key_ bigint;
BEGIN
  SELECT key INTO key_ FROM ${s}.conversations WHERE owner = op ->> 'owner' AND id = op ->> 'id' FOR UPDATE;
  IF NOT FOUND THEN RETURN 'false'; END IF;
  DELETE FROM ${s}.conversation_items WHERE conversation_key = key_
    AND ref = md5(length(op ->> 'owner')::text || ':' || (op ->> 'owner') || (op ->> 'itemId'))::uuid;
  IF NOT FOUND THEN RETURN to_jsonb((op -> 'isRetry')::boolean); END IF;
  UPDATE ${s}.conversations SET version = version + 1 WHERE key = key_;
  RETURN 'true';
END $$;
`;

/**
 * All calls of a group, in their order, in one transaction and one round trip. Rows are locked in one order for all
 * groups, responses before conversations, so that two groups never wait for each other.
 */
const write = (s: string, version: 1 | 2): string => `
CREATE FUNCTION ${s}.write_v${version}(ops jsonb, is_durable boolean, at_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  op jsonb;
  results jsonb[] := '{}';
  result jsonb;
  now_ms bigint;
BEGIN
  IF NOT is_durable THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
  IF jsonb_array_length(ops) > 1 THEN
    PERFORM 1 FROM ${s}.responses WHERE id IN (
        SELECT o ->> 'id' FROM jsonb_array_elements(ops) o
        UNION ALL
        SELECT l ->> 'responseId' FROM jsonb_array_elements(ops) o, jsonb_array_elements(o -> 'leases') l)
      ORDER BY id FOR UPDATE;
    PERFORM 1 FROM ${s}.conversations c WHERE c.key IN (
        SELECT n.key FROM jsonb_array_elements(ops) o JOIN ${s}.conversations n
          ON n.owner = coalesce(o ->> 'owner', o #>> '{response,owner}') AND n.id IN (o ->> 'id', o #>> '{place,id}')
        UNION ALL
        SELECT n.key FROM jsonb_array_elements(ops) o JOIN ${s}.responses r ON r.id = o ->> 'id'
          JOIN ${s}.conversations n ON n.owner = r.owner AND n.id = r.conversation_id
          WHERE (o -> 'isOver')::boolean)
      ORDER BY c.key FOR UPDATE;
  END IF;
  FOR op IN SELECT jsonb_array_elements(ops) LOOP
    now_ms := coalesce(at_ms, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    result := CASE op ->> 'call'
      WHEN 'commit' THEN ${s}.commit_v${version}(op, now_ms)
      WHEN 'create' THEN ${s}.create_v${version}(op, now_ms)
      WHEN 'claim' THEN ${s}.claim_v1(op, now_ms)
      WHEN 'renew' THEN ${s}.renew_v1(op, now_ms)
      WHEN 'release' THEN ${s}.release_v1(op, now_ms)
      WHEN 'trust' THEN ${s}.trust_v1(op, now_ms)
      WHEN 'remove' THEN ${s}.remove_v1(op, now_ms)
      WHEN 'requestCancel' THEN ${s}.request_cancel_v1(op, now_ms)
      WHEN 'expire' THEN ${s}.expire_v1(op, now_ms)
      WHEN 'keepSecret' THEN ${s}.keep_secret_v1(op, now_ms)
      WHEN 'check' THEN ${s}.check_v1(op, now_ms)
      WHEN 'createConversation' THEN ${s}.create_conversation_v1(op, now_ms)
      WHEN 'updateConversation' THEN ${s}.update_conversation_v1(op, now_ms)
      WHEN 'removeConversation' THEN ${s}.remove_conversation_v1(op, now_ms)
      WHEN 'addConversationItems' THEN ${s}.add_conversation_items_v1(op, now_ms)
      WHEN 'removeConversationItem' THEN ${s}.remove_conversation_item_v1(op, now_ms)
    END;
    -- What the queue of jobs does with it, in the words of pg-boss.
    IF op ? 'job' AND (result -> 'hasJob')::boolean THEN
      EXECUTE op ->> 'job';
    END IF;
    results := results || coalesce(result, 'null');
  END LOOP;
  RETURN to_jsonb(results);
END $$;
`;

/** `s`: the quoted name of the schema. */
export const functions = (s: string): string =>
  [create(s, 1), commit(s), remove(s), conversations(s), queueFunctions(s), write(s, 1)].join("\n");

/** Those of the second version, which use the others of the first. */
export const listedAndTraced = (s: string): string => [create(s, 2), commitTraced(s), write(s, 2)].join("\n");
