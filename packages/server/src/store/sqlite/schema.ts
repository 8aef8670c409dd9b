// The tables, as migrations from one version to the next. A released migration never changes: add a new one.

import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "../store-error.ts";

// "rond": tells our files from those of other programs.
const applicationId = 0x72_6f_6e_64;

/** The tools of a row's JSON, without the credentials for MCP servers. */
const toolsWithoutCredentials = `(
      SELECT json_group_array(CASE WHEN tool.value ->> '$.type' = 'mcp'
        THEN json_remove(tool.value, '$.authorization', '$.headers') ELSE json(tool.value) END)
      FROM json_each(data, '$.tools') AS tool)`;

const migrations: readonly string[] = [
  `
  -- "key" grows with time and is never shown. What a run changes often stands here, in short rows; the request,
  -- which can be long and never changes, stands apart.
  CREATE TABLE responses (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    status TEXT NOT NULL,
    is_background INTEGER NOT NULL,
    model TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    completed_at_ms INTEGER,
    ended_at_ms INTEGER,
    previous_response_id TEXT,
    error TEXT,
    incomplete_reason TEXT,
    usage TEXT,
    is_cancel_requested INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    lease_until_ms INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX responses_by_owner ON responses (owner, created_at_ms, id);
  CREATE INDEX responses_by_status ON responses (owner, status, created_at_ms, id);
  CREATE INDEX responses_by_model ON responses (owner, model, created_at_ms, id);
  CREATE INDEX responses_by_background ON responses (owner, is_background, created_at_ms, id);
  CREATE INDEX responses_active ON responses (created_at_ms, id) WHERE status IN ('queued', 'in_progress');
  CREATE INDEX responses_ended ON responses (ended_at_ms) WHERE ended_at_ms IS NOT NULL;

  CREATE TABLE requests (
    response_key INTEGER PRIMARY KEY REFERENCES responses (key) ON DELETE CASCADE,
    data TEXT NOT NULL
  ) STRICT;

  CREATE TABLE items (
    key INTEGER PRIMARY KEY,
    response_key INTEGER NOT NULL REFERENCES responses (key) ON DELETE CASCADE,
    is_output INTEGER NOT NULL,
    position INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    is_frozen INTEGER NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (response_key, is_output, position),
    UNIQUE (owner, id)
  ) STRICT;

  -- Events of many runs come in turns. Appended in the order of their keys they share a few pages; ordered by
  -- their response, each would rewrite a page of its own.
  CREATE TABLE events (
    key INTEGER PRIMARY KEY,
    response_key INTEGER NOT NULL REFERENCES responses (key) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (response_key, sequence)
  ) STRICT;

  CREATE TABLE steps (
    key INTEGER PRIMARY KEY,
    response_key INTEGER NOT NULL REFERENCES responses (key) ON DELETE CASCADE,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX steps_by_response ON steps (response_key, key);

  CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE checks (key INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL) STRICT;
  `,
  `
  -- Conversations have copies of the items of their responses: either may go without the other.
  CREATE TABLE conversations (
    key INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, id)
  ) STRICT;

  -- In the order of their keys.
  CREATE TABLE conversation_items (
    key INTEGER PRIMARY KEY,
    conversation_key INTEGER NOT NULL REFERENCES conversations (key) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    response_id TEXT,
    turn INTEGER,
    is_closed INTEGER NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (owner, id)
  ) STRICT;
  CREATE INDEX conversation_items_in_order ON conversation_items (conversation_key, key);

  ALTER TABLE responses ADD COLUMN conversation_id TEXT;
  ALTER TABLE responses ADD COLUMN is_closed INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX responses_in_conversation ON responses (owner, conversation_id, key)
    WHERE conversation_id IS NOT NULL AND status IN ('queued', 'in_progress');
  `,
  `
  -- Told of every response, and not only of those of conversations: a chain is read without the requests.
  UPDATE responses SET is_closed = 1
    WHERE key IN (SELECT response_key FROM requests WHERE data ->> '$.tool_choice' = 'none');
  `,
  `
  -- Sealed, and only of responses that are not over.
  CREATE TABLE credentials (
    response_key INTEGER PRIMARY KEY REFERENCES responses (key) ON DELETE CASCADE,
    sealed TEXT NOT NULL
  ) STRICT;

  -- Requests of background runs had them as they came. Those that are not over may still need them: nothing can
  -- be sealed here, so they are marked, and gone when the run is over.
  INSERT INTO credentials (response_key, sealed)
    SELECT requests.response_key,
      'plain.' || json_object('tools', json_group_object(tool.key, json(tool.value)), 'input', json('{}'))
    FROM requests JOIN responses ON responses.key = requests.response_key,
      json_each(requests.data, '$.tools') AS tool
    WHERE responses.is_background = 1 AND responses.status IN ('queued', 'in_progress')
      AND instr(requests.data, '"mcp"') > 0 AND tool.value ->> '$.type' = 'mcp'
    GROUP BY requests.response_key;
  UPDATE requests SET data = json_set(data, '$.tools', ${toolsWithoutCredentials})
    WHERE response_key IN (SELECT key FROM responses WHERE is_background = 1) AND instr(data, '"mcp"') > 0;
  UPDATE items SET data = json_set(data, '$.tools', ${toolsWithoutCredentials})
    WHERE instr(data, '"mcp"') > 0 AND data ->> '$.type' = 'additional_tools';
  UPDATE conversation_items SET data = json_set(data, '$.tools', ${toolsWithoutCredentials})
    WHERE instr(data, '"mcp"') > 0 AND data ->> '$.type' = 'additional_tools';
  `,
  `
  -- See ../standing.ts.
  ALTER TABLE responses ADD COLUMN suspicion INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE responses ADD COLUMN is_apart INTEGER NOT NULL DEFAULT 0;

  CREATE TABLE idempotency_keys (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    until_ms INTEGER NOT NULL,
    response_key INTEGER NOT NULL REFERENCES responses (key) ON DELETE CASCADE,
    PRIMARY KEY (owner, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_keys_by_end ON idempotency_keys (until_ms);
  CREATE INDEX idempotency_keys_by_response ON idempotency_keys (response_key);
  `,
  `
  -- Without a size until all of the content is there.
  CREATE TABLE files (
    key INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    filename TEXT NOT NULL,
    purpose TEXT NOT NULL,
    bytes INTEGER,
    UNIQUE (owner, id)
  ) STRICT;
  CREATE INDEX files_by_owner ON files (owner, created_at_ms, id) WHERE bytes IS NOT NULL;
  CREATE INDEX files_by_end ON files (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
  CREATE INDEX files_unfinished ON files (created_at_ms) WHERE bytes IS NULL;

  CREATE TABLE file_chunks (
    file_key INTEGER NOT NULL REFERENCES files (key) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (file_key, position)
  ) STRICT;
  `,
  `
  -- For lists. A response that begins a chain names no thread: it is the thread.
  ALTER TABLE responses ADD COLUMN title TEXT;
  ALTER TABLE responses ADD COLUMN source TEXT;
  ALTER TABLE responses ADD COLUMN thread_id TEXT;
  CREATE INDEX responses_followers ON responses (previous_response_id) WHERE previous_response_id IS NOT NULL;
  UPDATE responses SET thread_id = conversation_id WHERE conversation_id IS NOT NULL;
  WITH RECURSIVE chained (key, id, root) AS (
    SELECT key, id, coalesce(thread_id, id) FROM responses WHERE previous_response_id IS NULL
    UNION ALL
    SELECT r.key, r.id, coalesce(r.thread_id, c.root) FROM chained c
      CROSS JOIN responses r ON r.previous_response_id = c.id)
    UPDATE responses SET thread_id = chained.root FROM chained
      WHERE responses.key = chained.key AND responses.id <> chained.root;
  UPDATE responses SET thread_id = previous_response_id WHERE thread_id IS NULL AND previous_response_id IS NOT NULL;
  DROP INDEX responses_followers;
  UPDATE responses SET title = (
    SELECT replace(replace(substr(CASE json_type(i.data, '$.content') WHEN 'text' THEN i.data ->> '$.content' ELSE
          (SELECT part.value ->> '$.text' FROM json_each(i.data, '$.content') part
            WHERE part.value ->> '$.text' IS NOT NULL LIMIT 1) END, 1, 120), char(10), ' '), char(13), ' ')
      FROM items i WHERE i.response_key = responses.key AND i.is_output = 0 AND i.data ->> '$.role' = 'user'
      ORDER BY i.position DESC LIMIT 1);
  CREATE INDEX responses_by_source ON responses (owner, source, created_at_ms, id) WHERE source IS NOT NULL;
  CREATE INDEX responses_by_thread ON responses (owner, thread_id, created_at_ms, id) WHERE thread_id IS NOT NULL;

  -- What happened in a run, in the order of "last".
  CREATE TABLE traces (
    response_key INTEGER NOT NULL REFERENCES responses (key) ON DELETE CASCADE,
    last INTEGER NOT NULL,
    first INTEGER NOT NULL,
    lines TEXT NOT NULL,
    PRIMARY KEY (response_key, last)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- A row has so many events, as lines, and the sequence of the last one.
  ALTER TABLE events ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
  `,
  `
  -- Without a key of its own, a row of over 1,000 bytes took a whole page.
  CREATE TABLE keyed_traces (
    key INTEGER PRIMARY KEY,
    response_key INTEGER NOT NULL REFERENCES responses (key) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    lines TEXT NOT NULL,
    UNIQUE (response_key, last)
  ) STRICT;
  INSERT INTO keyed_traces (response_key, first, last, lines)
    SELECT response_key, first, last, lines FROM traces ORDER BY response_key, last;
  DROP TABLE traces;
  ALTER TABLE keyed_traces RENAME TO traces;
  `,
  `
  -- How many items a row of input has: one as an object, or more as an array. Its id and position are those of the first.
  ALTER TABLE items ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
  `,
];

export const newestVersion = migrations.length;

/** Migrates the tables to the newest version. Throws a `StoreError` if the file is newer, or another program's. */
export function migrate(database: DatabaseSync, path: string): void {
  const version = checkVersion(database, path);
  if (version === migrations.length) return;
  // Migrations remove secrets, which would otherwise stay in the file until they are overwritten.
  database.exec("PRAGMA secure_delete = ON; BEGIN EXCLUSIVE");
  try {
    for (const step of migrations.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${migrations.length}; PRAGMA application_id = ${applicationId}`);
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  } finally {
    database.exec("PRAGMA secure_delete = OFF");
  }
}

/** The version of the tables; 0 if there are none. Throws a `StoreError` for a file that is not for this server. */
export function checkVersion(database: DatabaseSync, path: string): number {
  const version = pragma(database, "user_version");
  if (version > migrations.length) {
    throw new StoreError(
      "unknown_version",
      `The store ${path} has the version ${version}, but this server knows versions up to ${migrations.length}. It was written by a newer server: use that one, or name another file.`,
    );
  }
  if (pragma(database, "application_id") !== applicationId && hasTables(database)) {
    throw new StoreError(
      "unavailable",
      `The database ${path} belongs to another program. Name another file for the store.`,
    );
  }
  return version;
}

function pragma(database: DatabaseSync, name: "user_version" | "application_id"): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function hasTables(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== undefined;
}
