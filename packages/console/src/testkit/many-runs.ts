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
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${Math.trunc(count)})`;
    db.exec(`
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
