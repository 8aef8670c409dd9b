// The store fails under load: the disk is full, or another program has locked the database. Clients are told so,
// nothing that was acknowledged is lost, and what was under way in the background ends later.

import { scriptedModel } from "rondo/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { testServer } from "../http/testkit/test-server.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { startService } from "../run/testkit/service.ts";
import { sqliteStore } from "../store/sqlite/sqlite-store.ts";
import { type SqliteFile, sqliteFile } from "../store/testkit/sqlite-file.ts";

interface Fault {
  readonly name: string;
  readonly begin: (file: SqliteFile) => void;
  readonly end: (file: SqliteFile) => void;
  /** What `/readyz` says meanwhile. On a disk that is full for SQLite alone, its small write finds room. */
  readonly readiness: number;
}

const faults: readonly Fault[] = [
  {
    name: "the disk is full",
    begin: ({ connection }) => connection.database.exec("PRAGMA max_page_count = 1"),
    end: ({ connection }) => connection.database.exec("PRAGMA max_page_count = 1000000"),
    readiness: 200,
  },
  {
    name: "another program has locked the database",
    begin: ({ other }) => other.exec("BEGIN IMMEDIATE"),
    end: ({ other }) => other.exec("ROLLBACK"),
    readiness: 503,
  },
];

test.each(faults)(
  "when $name, clients are told, and nothing that was acknowledged is lost",
  { timeout: 30_000 },
  async ({ begin, end, readiness }) => {
    await using file = sqliteFile();
    const gate = Promise.withResolvers<void>();
    const long = "x".repeat(20_000);
    const model = scriptedModel(({ messages }) => {
      const waits = JSON.stringify(messages).includes("wait");
      return { text: waits ? ["Half. ", gate.promise, long] : long };
    });
    const warnings: string[] = [];
    const service = await startService({ model, store: file.store, warnings });
    const server = await testServer({}, { responses: service });
    const acknowledged = new Map<string, string>();
    const ask = async (body: object) => {
      const response = await server.post("/v1/responses", { input: "Hi.", ...body });
      const text = await response.text();
      if (response.status === 200) for (const it of endedIn(text)) acknowledged.set(it.id, it.status);
      return { status: response.status, text };
    };
    await ask({});
    await ask({ stream: true });
    const under = await ask({ background: true, input: "Please wait." });
    const { id } = JSON.parse(under.text) as { id: string };
    const leftStream = ask({ stream: true, input: "Please wait." });
    const leftPlain = ask({ input: "Please wait." });
    await vi.waitFor(async () => {
      expect((await file.store.events("local", id, -1, 100)).length).toBeGreaterThan(4);
      expect(model.requests).toHaveLength(5);
    });

    begin(file);
    gate.resolve();
    const kinds = [{}, { stream: true }, { background: true }, { background: true, stream: true }];
    const answers = await Promise.all([...kinds, ...kinds].map((kind) => ask({ ...kind, input: long })));
    const streamed = await leftStream;
    const plain = await leftPlain;
    expect((await server.fetch("/readyz")).status).toBe(readiness);
    expect((await server.fetch("/healthz")).status).toBe(200);
    expect((await server.fetch("/metrics")).status).toBe(200);
    expect((await server.fetch(`/v1/responses/${id}`)).status).toBe(200);
    end(file);

    expect(plain).toMatchObject({ status: 503, text: expect.stringContaining("store_unavailable") });
    expect(streamed.text).toContain("event: response.failed");
    expect(streamed.text).toContain("store_unavailable");
    for (const { status, text } of answers) {
      expect(status).toBe(503);
      expect(JSON.parse(text)).toMatchObject({ error: { code: "store_unavailable", type: "server_error" } });
    }
    // Where the server keeps its files is nobody's business.
    expect([...answers, plain, streamed].map(({ text }) => text).join()).not.toContain(file.path);

    expect((await server.fetch("/readyz")).status).toBe(200);
    expect((await ask({})).status).toBe(200);
    await vi.waitFor(
      async () => {
        const { status } = (await (await server.fetch(`/v1/responses/${id}`)).json()) as ResponseObject;
        expect(status).toBe("completed");
      },
      { timeout: 20_000, interval: 100 },
    );
    acknowledged.set(id, "completed");
    await server.close({ graceMs: 0 });
    await service.drain(0);
    await file.store.close();
    const again = sqliteStore({ path: file.path });
    onTestFinished(() => again.close());
    expect(acknowledged.size).toBe(4);
    for (const [known, status] of acknowledged)
      expect(await again.get("local", known)).toMatchObject({ status });
  },
);

/** The responses that an answer says are over or accepted. */
function endedIn(text: string): ResponseObject[] {
  if (!text.startsWith("event:")) return [JSON.parse(text)];
  const last = /^event: response\.completed\ndata: (.*)$/m.exec(text)?.[1];
  return last === undefined ? [] : [JSON.parse(last).response];
}
