// The tables. Ids and owners sort by their bytes ("C"), whatever the database's language is.
//
// There are no foreign keys: each would cost a look-up and a lock with every row of a stream. All writes go through the
// functions beside this file, which lock the row of the response first, and delete what belongs to it themselves.

/** `s`: the quoted name of the schema. */
export const tables = (s: string): string => `
CREATE TABLE ${s}.responses (
  -- Grows with time, and is never shown.
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  owner text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  previous_response_id text COLLATE "C",
  conversation_id text COLLATE "C",
  status text COLLATE "C" NOT NULL,
  is_background boolean NOT NULL,
  is_closed boolean NOT NULL,
  is_cancel_requested boolean NOT NULL DEFAULT false,
  created_at_ms bigint NOT NULL,
  completed_at_ms bigint,
  ended_at_ms bigint,
  error text,
  incomplete_reason text,
  usage text,
  -- Who runs it. A worker without a node is one of a store that nobody watches.
  worker text,
  node integer,
  fence integer NOT NULL DEFAULT 0,
  lease_until_ms bigint NOT NULL DEFAULT 0,
  -- See ../../standing.ts. "deaths": of nodes, since it last made progress.
  attempts integer NOT NULL DEFAULT 0,
  suspicion integer NOT NULL DEFAULT 0,
  deaths integer NOT NULL DEFAULT 0,
  is_apart boolean NOT NULL DEFAULT false,
  -- Nobody begins it before: longer after each death.
  not_before_ms bigint NOT NULL DEFAULT 0,
  priority integer NOT NULL DEFAULT 0,
  last_sequence integer NOT NULL DEFAULT -1,
  -- Names the last write, so that one whose outcome is unknown can be found again.
  last_write text
-- Room on each page for the next version of a row: then no index has to be touched.
) WITH (fillfactor = 60);
CREATE INDEX responses_by_owner ON ${s}.responses (owner, created_at_ms, id);
CREATE INDEX responses_by_status ON ${s}.responses (owner, status, created_at_ms, id);
CREATE INDEX responses_by_model ON ${s}.responses (owner, model, created_at_ms, id);
CREATE INDEX responses_by_background ON ${s}.responses (owner, is_background, created_at_ms, id);
CREATE INDEX responses_active ON ${s}.responses (created_at_ms, id) WHERE status IN ('queued', 'in_progress');
CREATE INDEX responses_active_of_owner ON ${s}.responses (owner) WHERE status IN ('queued', 'in_progress');
CREATE INDEX responses_in_conversation ON ${s}.responses (owner, conversation_id, key)
  WHERE conversation_id IS NOT NULL AND status IN ('queued', 'in_progress');
CREATE INDEX responses_ended ON ${s}.responses (ended_at_ms) WHERE ended_at_ms IS NOT NULL;

CREATE TABLE ${s}.requests (
  response_key bigint PRIMARY KEY,
  data text NOT NULL,
  -- Sealed, and only of a response that is not over.
  credentials text
);

-- Clients choose the ids of items, of any length: an index has their hashes, with the owner's length before it, so that
-- no owner can make up an id that meets another's.
CREATE TABLE ${s}.items (
  response_key bigint NOT NULL,
  is_output boolean NOT NULL,
  position integer NOT NULL,
  turn integer NOT NULL,
  is_frozen boolean NOT NULL,
  owner text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  ref uuid NOT NULL GENERATED ALWAYS AS (md5(length(owner)::text || ':' || owner || id)::uuid) STORED UNIQUE,
  data text NOT NULL,
  PRIMARY KEY (response_key, is_output, position)
);

-- All events of a commit in one row.
CREATE TABLE ${s}.events (
  response_key bigint NOT NULL,
  first_sequence integer NOT NULL,
  last_sequence integer NOT NULL,
  data text[] NOT NULL,
  PRIMARY KEY (response_key, last_sequence)
);

-- All steps of a commit in one row, in the order of their keys.
CREATE TABLE ${s}.steps (
  response_key bigint NOT NULL,
  key bigint GENERATED ALWAYS AS IDENTITY,
  data text[] NOT NULL,
  PRIMARY KEY (response_key, key)
);

CREATE TABLE ${s}.idempotency_keys (
  owner text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  ref uuid GENERATED ALWAYS AS (md5(length(owner)::text || ':' || owner || key)::uuid) STORED PRIMARY KEY,
  fingerprint text NOT NULL,
  until_ms bigint NOT NULL,
  response_key bigint NOT NULL
);
CREATE INDEX idempotency_keys_by_end ON ${s}.idempotency_keys (until_ms);
CREATE INDEX idempotency_keys_by_response ON ${s}.idempotency_keys (response_key);

-- Conversations have copies of the items of their responses: either may go without the other.
CREATE TABLE ${s}.conversations (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  created_at_ms bigint NOT NULL,
  metadata text NOT NULL,
  version integer NOT NULL DEFAULT 0,
  UNIQUE (owner, id)
);

-- In the order of their keys: whoever adds one has locked the conversation.
CREATE TABLE ${s}.conversation_items (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  conversation_key bigint NOT NULL,
  owner text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  ref uuid NOT NULL GENERATED ALWAYS AS (md5(length(owner)::text || ':' || owner || id)::uuid) STORED UNIQUE,
  response_id text COLLATE "C",
  turn integer,
  is_closed boolean NOT NULL,
  data text NOT NULL
);
CREATE INDEX conversation_items_in_order ON ${s}.conversation_items (conversation_key, key);

CREATE TABLE ${s}.secrets (name text COLLATE "C" PRIMARY KEY, value text NOT NULL);

CREATE TABLE ${s}.files (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint,
  filename text NOT NULL,
  purpose text NOT NULL,
  -- Null until all of the content is there.
  bytes bigint,
  UNIQUE (owner, id)
);
CREATE INDEX files_by_age ON ${s}.files (owner, created_at_ms, id);
CREATE INDEX files_by_expiry ON ${s}.files (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
CREATE INDEX files_unfinished ON ${s}.files (created_at_ms) WHERE bytes IS NULL;

CREATE TABLE ${s}.file_chunks (
  file_key bigint NOT NULL REFERENCES ${s}.files (key) ON DELETE CASCADE,
  position integer NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (file_key, position)
);
-- Mostly compressed or random already.
ALTER TABLE ${s}.file_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

-- The nodes that are alive. One that is not here has lost its leases.
CREATE TABLE ${s}.nodes (
  key integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  -- Whether its session holds the advisory lock of its key, so that its end is seen at once.
  has_lock boolean NOT NULL
) WITH (fillfactor = 50);
`;
