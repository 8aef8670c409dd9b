import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { InvalidArgumentError } from "../error/argument-errors.ts";
import { openaiCompatible } from "./chat-completions.ts";
import { environment, ollamaBaseUrl } from "./environment.ts";
import { llamacpp, lmstudio, ollama, vllm } from "./presets.ts";

beforeEach(() => {
  for (const name of ["RONDO_BASE_URL", "RONDO_MODEL", "OLLAMA_HOST"]) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

test.each([
  [ollama, "http://localhost:11434/v1"],
  [lmstudio, "http://localhost:1234/v1"],
  [llamacpp, "http://localhost:8080/v1"],
  [vllm, "http://localhost:8000/v1"],
])("%o is where that server listens", (preset, endpoint) => {
  expect(preset("m")).toMatchObject({ name: "m", endpoint });
});

describe("explicit beats the environment, which beats the preset", () => {
  test("for the address", () => {
    vi.stubEnv("OLLAMA_HOST", "gpu-box");
    expect(ollama("m").endpoint).toBe("http://gpu-box:11434/v1");
    expect(vllm("m").endpoint).toBe("http://localhost:8000/v1");
    vi.stubEnv("RONDO_BASE_URL", "http://proxy/v1");
    expect(ollama("m").endpoint).toBe("http://proxy/v1");
    expect(vllm("m").endpoint).toBe("http://proxy/v1");
    expect(openaiCompatible({ model: "m" }).endpoint).toBe("http://proxy/v1");
    const options = { baseURL: "http://mine:5/v1" };
    expect(ollama("m", options).endpoint).toBe("http://mine:5/v1");
    expect(openaiCompatible({ model: "m", ...options }).endpoint).toBe("http://mine:5/v1");
  });

  test("for the model", () => {
    expect(() => ollama()).toThrow(InvalidArgumentError);
    expect(() => ollama("")).toThrow("RONDO_MODEL");
    vi.stubEnv("RONDO_MODEL", "from-env");
    expect(ollama().name).toBe("from-env");
    expect(ollama("mine").name).toBe("mine");
    expect(openaiCompatible({ baseURL: "http://localhost/v1" }).name).toBe("from-env");
  });

  test("and an empty variable is not set", () => {
    vi.stubEnv("RONDO_BASE_URL", " ");
    expect(vllm("m").endpoint).toBe("http://localhost:8000/v1");
  });
});

test("without a process there is no environment, and no error", () => {
  vi.stubGlobal("process", undefined);
  expect(environment("RONDO_MODEL")).toBeUndefined();
  const process = {
    get env(): never {
      throw new Error("not allowed");
    },
  };
  vi.stubGlobal("process", process);
  expect(environment("RONDO_MODEL")).toBeUndefined();
});

test.each([
  ["0.0.0.0", "http://127.0.0.1:11434/v1"],
  ["127.0.0.1:8080", "http://127.0.0.1:8080/v1"],
  [":8080", "http://127.0.0.1:8080/v1"],
  ["gpu-box", "http://gpu-box:11434/v1"],
  ["gpu-box/ollama/", "http://gpu-box:11434/ollama/v1"],
  ["[::]:8080", "http://[::1]:8080/v1"],
  ["[::1]", "http://[::1]:11434/v1"],
  ["http://0.0.0.0:11434", "http://127.0.0.1:11434/v1"],
  ["https://ollama.example", "https://ollama.example/v1"],
  ["http://gpu-box:1/path/", "http://gpu-box:1/path/v1"],
])("OLLAMA_HOST=%s is %s", (host, baseURL) => {
  expect(ollamaBaseUrl(host)).toBe(baseURL);
  expect(URL.canParse(ollamaBaseUrl(host))).toBe(true);
});
