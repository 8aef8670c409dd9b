// The PostgreSQL that all test files of a run share. It is started by the first test that asks for it, in the process
// of Vitest (`vitest-postgres.ts`), and stopped at the end of the run.

import { connect } from "node:net";
import { inject } from "vitest";
import { createTestDatabase, type PostgresAddress } from "./postgres-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The port at which `vitest-postgres.ts` tells the address of the shared PostgreSQL. */
    postgresStarterPort: number;
  }
}

let address: Promise<PostgresAddress> | undefined;

/** The shared PostgreSQL, which is started if it does not run yet. */
export function sharedPostgres(): Promise<PostgresAddress> {
  address ??= askForAddress(inject("postgresStarterPort"));
  return address;
}

/**
 * A new, empty database in the shared PostgreSQL: its URL, with a role that is not a superuser and a password that
 * needs encoding. One for each test file is enough in most cases; it takes some 20 ms. It is not removed: the whole
 * server is, at the end.
 *
 * ```ts
 * const url = await testDatabase();
 * await using store = await openStore(url);
 * ```
 */
export async function testDatabase(): Promise<string> {
  return createTestDatabase(await sharedPostgres());
}

async function askForAddress(port: number): Promise<PostgresAddress> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  for await (const chunk of socket.setEncoding("utf8")) text += String(chunk);
  const answer = JSON.parse(text) as PostgresAddress & { error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}
