import { describe, expect, test } from "vitest";
import { ContextLengthError } from "./context-length-error.ts";
import { TimeoutError } from "./execution-errors.ts";
import {
  BrokenStreamError,
  EmptyAnswerError,
  ModelConnectionError,
  ModelError,
  ModelIdleTimeoutError,
  ModelTimeoutError,
  ReportedStreamError,
  UnexpectedAnswerError,
} from "./model-errors.ts";
import {
  ModelAuthError,
  ModelHttpError,
  ModelNotFoundError,
  ModelRateLimitError,
  ModelRequestError,
  ModelServerError,
} from "./model-http-errors.ts";
import { RondoError } from "./rondo-error.ts";

const endpoint = "http://localhost:11434/v1";
const failure = (status: number, said = "") => ({ endpoint, status, said });
const page = { expected: "a stream", got: "a web page", received: "<html>" };

const errors: [name: string, code: string, error: RondoError & { endpoint: string }][] = [
  ["ModelConnectionError", "model_unreachable", new ModelConnectionError(endpoint, new Error("x"))],
  ["ModelAuthError", "model_auth", new ModelAuthError(failure(401))],
  ["ModelNotFoundError", "model_not_found", new ModelNotFoundError(failure(404), "m", { isPath: false })],
  ["ModelRateLimitError", "model_rate_limit", new ModelRateLimitError(failure(429), 5)],
  ["ModelServerError", "model_server", new ModelServerError(failure(500))],
  ["ModelRequestError", "model_request", new ModelRequestError(failure(400))],
  [
    "ContextLengthError",
    "context_length_exceeded",
    new ContextLengthError(endpoint, { contextWindow: 1024, promptTokens: 7209, said: "too long" }),
  ],
  ["UnexpectedAnswerError", "model_unexpected_answer", new UnexpectedAnswerError(endpoint, page)],
  ["EmptyAnswerError", "model_empty_answer", new EmptyAnswerError(endpoint, "")],
  ["BrokenStreamError", "model_stream_broken", new BrokenStreamError(endpoint, "Hel", new Error("x"))],
  ["ReportedStreamError", "model_stream_error", new ReportedStreamError(endpoint, "Hel", "no memory")],
  ["ModelTimeoutError", "model_timeout", new ModelTimeoutError(endpoint, 5, "Hel")],
  ["ModelIdleTimeoutError", "model_idle_timeout", new ModelIdleTimeoutError(endpoint, 5, "Hel")],
];

test.each(errors)("%s has its name, its code, its endpoint and a next step", (name, code, error) => {
  expect(error).toBeInstanceOf(RondoError);
  expect(error.name).toBe(name);
  expect(error.code).toBe(code);
  expect(error.endpoint).toBe(endpoint);
  expect(error.message).toContain(endpoint);
  expect(error.message).toMatch(/\. [A-Z`].+[.)]$/s);
});

test("no two errors share a code", () => {
  expect(new Set(errors.map(([, code]) => code)).size).toBe(errors.length);
});

test("all but the timeouts are ModelErrors, and those are TimeoutErrors", () => {
  for (const [name, , error] of errors) {
    expect(error instanceof TimeoutError).toBe(name.endsWith("TimeoutError"));
    expect(error instanceof ModelError).toBe(!name.endsWith("TimeoutError"));
  }
  expect(errors.filter(([, , error]) => error instanceof ModelHttpError)).toHaveLength(5);
});

describe("the message says", () => {
  test.each<[cause: unknown, reason: string | undefined, words: string]>([
    [Object.assign(new Error(""), { code: "ECONNREFUSED" }), "ECONNREFUSED", "the connection was refused"],
    [
      new TypeError("fetch failed", {
        cause: Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" }),
      }),
      "ENOTFOUND",
      "its host name is not known",
    ],
    [Object.assign(new Error("x"), { code: "ECONNRESET" }), "ECONNRESET", "the connection was closed"],
    [Object.assign(new Error(""), { code: "EODD" }), "EODD", "EODD"],
    [new Error("self-signed certificate."), undefined, "self-signed certificate"],
    [new Error(""), undefined, "no reason was given"],
    ["odd", undefined, `"odd"`],
  ])("why no server answers (%#), and to start one", (cause, reason, words) => {
    const error = new ModelConnectionError(endpoint, cause);
    expect(error.message).toBe(
      `No model server answers at ${endpoint}: ${words}. ` +
        "Start the server (Ollama: `ollama serve`), or pass the baseURL of one that runs.",
    );
    expect(error).toMatchObject({ reason, cause });
  });

  test("which model is missing, and how to find those that are there", () => {
    const error = new ModelNotFoundError(failure(404, "no such model"), "qwen3:8b", { isPath: false });
    expect(error.message).toBe(
      `The model server at ${endpoint} has no model 'qwen3:8b' (status 404: no such model). ` +
        `\`await listModels({ baseURL: "${endpoint}" })\` tells which it has; ` +
        "Ollama gets a model with `ollama pull qwen3:8b`.",
    );
    expect(error.model).toBe("qwen3:8b");
  });

  test("that it is the path which is wrong", () => {
    const error = new ModelNotFoundError(failure(404), "m", { isPath: true });
    expect(error.message).toContain("no chat-completions API");
    expect(error.message).toContain("/v1");
  });

  test("how long to wait, if the server said so", () => {
    expect(new ModelRateLimitError(failure(429), 7_000).message).toContain("in 7000 ms");
    expect(new ModelRateLimitError(failure(429), undefined).message).toContain("Ask again later");
  });

  test("that the model is loading, only if it is", () => {
    expect(new ModelServerError(failure(503, "Loading model"))).toMatchObject({ isLoading: true });
    expect(new ModelServerError(failure(503, "Loading model")).message).toContain("still loading");
    expect(new ModelServerError(failure(500, "Loading model"))).toMatchObject({ isLoading: false });
    expect(new ModelServerError(failure(503, "busy"))).toMatchObject({ isLoading: false });
  });

  test("what was received instead of a stream", () => {
    expect(new UnexpectedAnswerError(endpoint, page).message).toContain(
      "got a web page: <html>. Check baseURL",
    );
    expect(new EmptyAnswerError(endpoint, "odd").message).toContain("that could be read: odd");
  });

  test("and keeps the text that had come", () => {
    for (const [, , error] of errors.slice(-4)) expect(error).toMatchObject({ partialText: "Hel" });
    expect(new BrokenStreamError(endpoint, "Hel", new Error("x")).message).toContain("after 3 characters");
  });
});
