// The jobs of background runs in pg-boss: one for each run that is not over. pg-boss knows what is to be done, and what
// was given up; who does it is said in the row of the response alone, so that a run has one lease and not two
// (docs/decisions/0053). Its statements are made with its own functions, once, and then run by ours, in the transaction
// that creates or ends the response.

import { createHash } from "node:crypto";
import pg from "pg";
import { PgBoss } from "pg-boss";
import { type PostgresConnection, queueLock, queueSchemaOf } from "./connection.ts";

/** The queue of runs, and that of runs that were given up. */
export const runsQueue = "runs";
export const deadLetterQueue = "runs_dead";

// Stand for what differs from job to job.
const someJob = "00000000-0000-4000-8000-00000000000a";
const someResponse = "some-response";
const someReason = "some-reason";
const somePriority = 987_654_321;

/** For longer than any run waits: a job that pg-boss deletes is no loss, as the row of its response counts. */
const retentionSeconds = 365 * 86_400;
/** For how long jobs that are done can be counted. */
const doneSeconds = 3600;

/** SQL of pg-boss, without parameters. */
interface Statements {
  readonly send: string;
  readonly complete: string;
  readonly fail: string;
  readonly remove: string;
}

export class JobQueue {
  readonly #boss: PgBoss;
  readonly #statements: Statements;

  private constructor(boss: PgBoss, statements: Statements) {
    this.#boss = boss;
    this.#statements = statements;
  }

  /** Creates or migrates the tables of pg-boss, if `migrates`, and starts it: it cleans up after itself. */
  static async start(
    db: PostgresConnection,
    { migrates, onWarning }: { migrates: boolean; onWarning?: ((message: string) => void) | undefined },
  ): Promise<JobQueue> {
    const boss = new PgBoss({
      db: { executeSql: (sql, values) => db.execute(sql, values) },
      schema: queueSchemaOf(db.options.schema),
      migrate: migrates,
      createSchema: migrates,
      schedule: false,
    });
    // Its maintenance: it is tried again, and no run depends on it.
    boss.on("error", () => {});
    boss.on("warning", ({ message }) => onWarning?.(`The queue of background runs: ${message}`));
    // pg-boss creates its tables without waiting for others that do so too.
    await db.withLock(queueLock, async () => {
      await boss.start();
      if (migrates) await createQueues(boss);
    });
    return new JobQueue(boss, await readStatements(boss));
  }

  /** Adds the job of a response. */
  sendSql(responseId: string, priority: number): string {
    return fill(this.#statements.send, responseId).replaceAll(String(somePriority), String(priority));
  }

  /** Takes it from the queue: the response is over. */
  completeSql(responseId: string): string {
    return fill(this.#statements.complete, responseId);
  }

  /** Moves it to the queue of those that were given up. */
  failSql(responseId: string, reason: string): string {
    return fill(this.#statements.fail, responseId).replaceAll(someReason, () => inJson(reason));
  }

  removeSql(responseId: string): string {
    return fill(this.#statements.remove, responseId);
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false });
  }
}

async function createQueues(boss: PgBoss): Promise<void> {
  if (await boss.getQueue(runsQueue)) return;
  await boss.createQueue(deadLetterQueue, { retentionSeconds });
  await boss.createQueue(runsQueue, {
    deadLetter: deadLetterQueue,
    // Runs are tried again by their own rule (`runs.maxAttempts`): a job that fails was given up.
    retryLimit: 0,
    retentionSeconds,
    deleteAfterSeconds: doneSeconds,
  });
}

/** The id of the job of a response: always the same, so that a job is added once. */
export function jobIdOf(responseId: string): string {
  const hex = createHash("sha256").update(responseId).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

async function readStatements(boss: PgBoss): Promise<Statements> {
  return {
    send: await statementOf((db) =>
      boss.send(runsQueue, { responseId: someResponse }, { id: someJob, priority: somePriority, db }),
    ),
    complete: await statementOf((db) => boss.complete(runsQueue, someJob, null, { includeQueued: true, db })),
    fail: await statementOf((db) => boss.fail(runsQueue, someJob, { reason: someReason }, { db })),
    remove: await statementOf((db) => boss.deleteJob(runsQueue, someJob, { db })),
  };
}

type Db = NonNullable<NonNullable<Parameters<PgBoss["complete"]>[3]>["db"]>;

/** The statement that pg-boss would run. */
async function statementOf(call: (db: Db) => Promise<unknown>): Promise<string> {
  const statements: string[] = [];
  await call({
    executeSql: async (sql, values = []) => {
      statements.push(withValues(sql, values));
      return { rows: [{ count: "0", ids: [] }] };
    },
  });
  const [statement] = statements;
  if (statement === undefined || statements.length > 1)
    throw new Error(`pg-boss was expected to use one statement, and used ${statements.length}.`);
  return statement;
}

function withValues(sql: string, values: readonly unknown[]): string {
  return sql.replaceAll(/\$(\d+)/g, (_, number: string) => literal(values[Number(number) - 1]));
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join(", ")}]`;
  return pg.escapeLiteral(typeof value === "string" ? value : JSON.stringify(value));
}

function fill(statement: string, responseId: string): string {
  return statement
    .replaceAll(someJob, jobIdOf(responseId))
    .replaceAll(someResponse, () => inJson(responseId));
}

/** A text inside of JSON inside of a literal of SQL, in which no other characters are special. */
function inJson(text: string): string {
  return JSON.stringify(text.replaceAll("\u0000", "\ufffd").toWellFormed())
    .slice(1, -1)
    .replaceAll("'", "''");
}
