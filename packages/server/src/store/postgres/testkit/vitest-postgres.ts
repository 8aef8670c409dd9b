// Global setup of Vitest: starts the PostgreSQL that test files share when the first of them asks for it. A run whose
// tests need none starts none.

import { createServer } from "node:net";
import type { TestProject } from "vitest/node";
import { type PostgresServer, startPostgresServer } from "./postgres-server.ts";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<PostgresServer> | undefined;
  const starter = createServer((socket) => {
    socket.on("error", () => {});
    started ??= startPostgresServer();
    started.then(
      ({ port, password }) => socket.end(JSON.stringify({ port, password })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    );
  });
  await new Promise<void>((resolve) => starter.listen(0, "127.0.0.1", resolve));
  starter.unref();
  const address = starter.address();
  if (typeof address !== "object" || address === null) throw new Error("The starter has no port.");
  project.provide("postgresStarterPort", address.port);
  return async () => {
    starter.close();
    const server = await started?.catch(() => undefined);
    await server?.[Symbol.asyncDispose]();
  };
}
