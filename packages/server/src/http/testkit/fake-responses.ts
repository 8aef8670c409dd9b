// A service of responses for tests of the routes: each method does what the test says, and notes that it was asked.

import type { ResponseObject } from "../../protocol/response.ts";
import type { CompactedResponse } from "../../run/compact.ts";
import type { PreparedRun } from "../../run/prepare.ts";
import type { ResponsesApi } from "../route.ts";

/** A response object with just enough in it. */
export function fakeResponse(id: string, status: ResponseObject["status"] = "completed"): ResponseObject {
  return { id, object: "response", status } as ResponseObject;
}

export interface FakeResponses extends ResponsesApi {
  /** What was called, with which arguments. */
  readonly calls: { name: string; args: unknown[] }[];
}

/** A service that answers everything at once, but for what `methods` say. */
export function fakeResponses(methods: Partial<ResponsesApi> = {}): FakeResponses {
  const calls: FakeResponses["calls"] = [];
  const page = { object: "list" as const, data: [], first_id: null, last_id: null, has_more: false };
  const service: ResponsesApi = {
    prepare: async (_owner, body) => fakeRun("resp_1", body),
    prepareWarmUp: async (_owner, body) => fakeRun("resp_1", body),
    warmUp: () => {},
    findRepeated: async () => undefined,
    repeat: async (_owner, id) => fakeResponse(id),
    runPlain: async ({ id }) => fakeResponse(id),
    runStreamed: async ({ id }, sink) =>
      sink.send(
        "response.completed",
        JSON.stringify({ type: "response.completed", response: fakeResponse(id) }),
      ),
    enqueue: async ({ id }) => fakeResponse(id, "queued"),
    follow: async () => {},
    get: async (_owner, id) => fakeResponse(id),
    list: async () => page,
    listRuns: async () => page,
    trace: async (_owner, id) => ({
      object: "response.trace",
      response_id: id,
      level: "off",
      started_at_ms: 0,
      is_over: true,
      is_cut: false,
      next: 0,
      events: [],
    }),
    inputItems: async () => page,
    remove: async (_owner, id) => ({ id, object: "response", deleted: true }),
    cancel: async (_owner, id) => fakeResponse(id, "cancelled"),
    compact: async () => ({ object: "response.compaction" }) as CompactedResponse,
    countInputTokens: async () => ({ object: "response.input_tokens", input_tokens: 7 }),
    modelServerHealth: async () => undefined,
    listModels: async () => [{ id: "org/model", ownedBy: "test" }],
    check: async () => {},
    ...methods,
  };
  const noted = Object.entries(service).map(([name, method]: [string, (...args: never[]) => unknown]) => [
    name,
    (...args: never[]) => {
      calls.push({ name, args });
      return method(...args);
    },
  ]);
  return Object.assign(Object.fromEntries(noted) as ResponsesApi, { calls });
}

/** A run with just enough in it. */
function fakeRun(id: string, body: unknown): PreparedRun {
  const { model, stream = false, background = false } = Object(body) as Partial<PreparedRun["request"]>;
  return { id, request: { model, stream, background } } as PreparedRun;
}
