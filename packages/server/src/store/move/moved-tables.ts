// Which rows of a SQLite file become which rows in PostgreSQL. Both sides are read in the same order, so that they can be
// compared row by row.

export type MovedValue = string | number | boolean | null;

/** A row as both sides have it, in the order of the columns. */
export type MovedRow = readonly MovedValue[];

/** How a column is written in PostgreSQL. `name`: text as clients chose it. `chunk`: bytes, carried as base64. */
export type ColumnType = "text" | "name" | "bigint" | "integer" | "boolean" | "chunk";

export interface MovedTable {
  /** Its name in PostgreSQL, and in messages. */
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** The columns that order the rows; together they are unique. */
  readonly order: readonly string[];
  /** What is read in SQLite: a table or a query with these columns. */
  readonly from: string;
  /** Rows that share a value of the first column and follow each other become one row with an array. Default: none. */
  readonly isPacked?: "events" | "steps";
  /** What the `count` of a row of SQLite counts: each is a row in PostgreSQL. Default: there is no count. */
  readonly counts?: "events" | "items";
}

/** In an order in which each table comes after those that it refers to. */
export const movedTables: readonly MovedTable[] = [
  { name: "secrets", columns: { name: "text", value: "text" }, order: ["name"], from: "secrets" },
  {
    name: "responses",
    columns: {
      key: "bigint",
      id: "name",
      owner: "name",
      model: "name",
      previous_response_id: "name",
      conversation_id: "name",
      status: "text",
      is_background: "boolean",
      is_closed: "boolean",
      is_cancel_requested: "boolean",
      created_at_ms: "bigint",
      completed_at_ms: "bigint",
      ended_at_ms: "bigint",
      error: "text",
      incomplete_reason: "text",
      usage: "text",
      fence: "integer",
      attempts: "integer",
      suspicion: "integer",
      is_apart: "boolean",
      last_sequence: "integer",
      title: "text",
      source: "name",
      thread_id: "name",
    },
    order: ["key"],
    from: `(SELECT *, coalesce(
      (SELECT max(sequence) FROM events WHERE events.response_key = responses.key), -1) AS last_sequence
      FROM responses)`,
  },
  {
    name: "requests",
    columns: { response_key: "bigint", data: "text", credentials: "text" },
    order: ["response_key"],
    from: `(SELECT requests.response_key, requests.data, credentials.sealed AS credentials
      FROM requests LEFT JOIN credentials ON credentials.response_key = requests.response_key)`,
  },
  {
    name: "items",
    columns: {
      response_key: "bigint",
      is_output: "boolean",
      position: "integer",
      turn: "integer",
      is_frozen: "boolean",
      owner: "name",
      id: "name",
      data: "text",
    },
    order: ["response_key", "is_output", "position"],
    from: "items",
    counts: "items",
  },
  {
    name: "events",
    columns: { response_key: "bigint", sequence: "integer", data: "text" },
    order: ["response_key", "sequence"],
    from: "events",
    isPacked: "events",
    counts: "events",
  },
  {
    name: "steps",
    columns: { response_key: "bigint", key: "bigint", data: "text" },
    order: ["response_key", "key"],
    from: "steps",
    isPacked: "steps",
  },
  {
    name: "traces",
    columns: { response_key: "bigint", first: "integer", last: "integer", lines: "text" },
    order: ["response_key", "last"],
    from: "traces",
  },
  {
    name: "idempotency_keys",
    columns: { owner: "name", key: "name", fingerprint: "name", until_ms: "bigint", response_key: "bigint" },
    // A response has one at most.
    order: ["response_key"],
    from: "idempotency_keys",
  },
  {
    name: "conversations",
    columns: {
      key: "bigint",
      owner: "name",
      id: "name",
      created_at_ms: "bigint",
      metadata: "text",
      version: "integer",
    },
    order: ["key"],
    from: "conversations",
  },
  {
    name: "conversation_items",
    columns: {
      key: "bigint",
      conversation_key: "bigint",
      owner: "name",
      id: "name",
      response_id: "name",
      turn: "integer",
      is_closed: "boolean",
      data: "text",
    },
    order: ["key"],
    from: "conversation_items",
  },
  {
    // Uploads that were never finished are left out.
    name: "files",
    columns: {
      key: "bigint",
      owner: "name",
      id: "name",
      created_at_ms: "bigint",
      expires_at_ms: "bigint",
      filename: "name",
      purpose: "name",
      bytes: "bigint",
    },
    order: ["key"],
    from: "(SELECT * FROM files WHERE bytes IS NOT NULL)",
  },
  {
    name: "file_chunks",
    columns: { file_key: "bigint", position: "integer", data: "chunk" },
    order: ["file_key", "position"],
    from: `(SELECT file_chunks.file_key, file_chunks.position, file_chunks.data
      FROM files CROSS JOIN file_chunks ON file_chunks.file_key = files.key WHERE files.bytes IS NOT NULL)`,
  },
];

/** Tables whose keys PostgreSQL continues after the highest. */
export const keyedTables = ["responses", "steps", "conversations", "conversation_items", "files"];
