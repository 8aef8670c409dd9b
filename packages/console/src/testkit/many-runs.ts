// A store with many runs: copies of one that the server itself stored, with other titles, states and times.

import { DatabaseSync } from "node:sqlite";

const hourMs = 3_600_000;

/** Copies the newest run of a SQLite file so many times. Each is a second older than the one before. */
export function copyRuns(path: string, count: number): void {
  const db = new DatabaseSync(path);
  try {
    const columns = db
      .prepare("SELECT name FROM pragma_table_info('responses') WHERE name <> 'key'")
      .all()
      .map(({ name }) => String(name));
    const values: Readonly<Record<string, string>> = {
      id: "printf('resp_copy%08d', n)",
      title:
        "printf('%s, part %d of the report', CASE n % 3 WHEN 0 THEN 'Summarise' WHEN 1 THEN 'Translate' ELSE 'Check' END, n)",
      status: "CASE WHEN n % 97 = 0 THEN 'failed' WHEN n % 41 = 0 THEN 'incomplete' ELSE 'completed' END",
      is_background: "n % 4 = 0",
      model: "CASE n % 5 WHEN 0 THEN 'qwen3:8b' WHEN 1 THEN 'llama3.3:70b' ELSE r.model END",
      created_at_ms: "r.created_at_ms - n * 1000",
      completed_at_ms: "r.created_at_ms - n * 1000 + n % 7919",
      ended_at_ms: `r.created_at_ms + ${hourMs}`,
      thread_id: "NULL",
    };
    // The oldest first: indexes then grow at their ends.
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT ${Math.trunc(count)} UNION ALL SELECT n - 1 FROM numbers WHERE n > 1)`;
    db.exec(`
      PRAGMA synchronous = OFF;
      PRAGMA cache_size = -200000;
      BEGIN;
      ${numbers} INSERT INTO responses (${columns.join(", ")})
        SELECT ${columns.map((name) => values[name] ?? `r.${name}`).join(", ")}
        FROM numbers, (SELECT * FROM responses ORDER BY key DESC LIMIT 1) r;
      INSERT INTO requests (response_key, data) SELECT r.key, q.data FROM responses r,
        (SELECT data FROM requests ORDER BY response_key LIMIT 1) q WHERE r.id GLOB 'resp_copy*';
      COMMIT;
      PRAGMA optimize;
    `);
  } finally {
    db.close();
  }
}

/**
 * Copies the newest run of a SQLite file so many times, as a chain that follows it. The run moves an hour into the past,
 * and each copy is a second newer than the one before.
 */
export function copyChain(path: string, count: number): void {
  const db = new DatabaseSync(path);
  try {
    const columns = db
      .prepare("SELECT name FROM pragma_table_info('responses') WHERE name <> 'key'")
      .all()
      .map(({ name }) => String(name));
    const values: Readonly<Record<string, string>> = {
      id: "printf('resp_chain%08d', n)",
      created_at_ms: "r.created_at_ms + n * 1000",
      thread_id: "r.id",
      previous_response_id: "CASE n WHEN 1 THEN r.id ELSE printf('resp_chain%08d', n - 1) END",
    };
    db.exec(`
      PRAGMA synchronous = OFF;
      BEGIN;
      UPDATE responses SET created_at_ms = created_at_ms - ${hourMs};
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${Math.trunc(count)})
        INSERT INTO responses (${columns.join(", ")})
        SELECT ${columns.map((name) => values[name] ?? `r.${name}`).join(", ")}
        FROM numbers, (SELECT * FROM responses ORDER BY key DESC LIMIT 1) r ORDER BY n;
      INSERT INTO requests (response_key, data) SELECT r.key, q.data FROM responses r,
        (SELECT data FROM requests ORDER BY response_key LIMIT 1) q WHERE r.id GLOB 'resp_chain*';
      COMMIT;
    `);
  } finally {
    db.close();
  }
}

/** Adds so many items to the output of the newest run, two for each round, and the trace of these rounds. */
export function addItems(path: string, count: number): string {
  const db = new DatabaseSync(path);
  try {
    const run = db.prepare("SELECT key, id, owner FROM responses ORDER BY created_at_ms DESC LIMIT 1").get();
    const insert =
      db.prepare(`INSERT INTO items (response_key, is_output, position, turn, owner, id, is_frozen, data)
      VALUES (?, 1, ?, 0, ?, ?, 1, ?)`);
    db.exec("BEGIN");
    const key = Number(run?.["key"]);
    db.prepare("DELETE FROM items WHERE response_key = ? AND is_output = 1").run(key);
    db.prepare("DELETE FROM traces WHERE response_key = ?").run(key);
    for (let n = 0; n < count; n += 1) {
      const item = itemAt(n);
      insert.run(key, n, String(run?.["owner"]), item.id, JSON.stringify(item));
    }
    const events = Array.from({ length: count / 2 }, (_, answer) => roundAt(answer)).flat();
    const lines = events.map((event) => JSON.stringify(event)).join("\n");
    db.prepare("INSERT INTO traces (response_key, first, last, lines) VALUES (?, 0, ?, ?)").run(
      key,
      events.length - 1,
      lines,
    );
    db.exec("COMMIT");
    return String(run?.["id"]);
  } finally {
    db.close();
  }
}

const sentence = "The quick brown fox jumps over the lazy dog, and then looks back at it for a while. ";

function itemAt(n: number) {
  const status = "completed";
  if (n % 2 === 1)
    return {
      type: "mcp_call",
      id: `mcp_${n}`,
      server_label: "local",
      name: "read_page",
      arguments: JSON.stringify({ page: n }),
      output: `Page ${n}: ${sentence.repeat(n % 9)}`,
      error: null,
      status,
      approval_request_id: null,
    };
  const text = `Item ${n}. ${sentence.repeat(n % 7)}`;
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { type: "message", id: `msg_${n}`, role: "assistant", status, content };
}

function roundAt(answer: number) {
  const at = answer * 100;
  const call = { call_id: `call_${answer}`, name: "read_page" };
  const turn = { turn_id: `turn_${answer}` };
  return [
    { at, type: "model.asked", answer, model: "m", endpoint: "http://127.0.0.1:1/v1", messages: 2, tools: 1 },
    { at: at + 20, type: "model.started", answer },
    { at: at + 60, type: "call.checked", answer, ...call, decision: "run" },
    { at: at + 60, type: "model.finished", answer, finish_reason: "tool_calls" },
    { at: at + 61, type: "turn.started", ...turn, ...call, attempt: 1 },
    { at: at + 95, type: "turn.finished", ...turn, stop_reason: "completed" },
    { at: at + 97, type: "store.committed", ms: 2, is_durable: true },
  ];
}
