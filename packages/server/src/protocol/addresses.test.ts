import { expect, test } from "vitest";
import { hideAddress } from "./addresses.ts";

const address = "http://gpu-1.lan:8000/v1";

test.each([
  [
    "No server answers at http://gpu-1.lan:8000/v1: it was refused.",
    "No server answers at (hidden): it was refused.",
  ],
  ["connect EHOSTUNREACH 10.0.0.7:8000", "connect EHOSTUNREACH (hidden)"],
  ["getaddrinfo ESERVFAIL gpu-1.lan", "getaddrinfo ESERVFAIL (hidden)"],
  ["gpu-1.lan:8000 hung up (see https://gpu-1.lan/log).", "(hidden) hung up (see (hidden))."],
  ["the model has 8.1 GB, version 1.2.3.4", "the model has 8.1 GB, version 1.2.3.4"],
])("%s", (text, shown) => {
  expect(hideAddress(text, address)).toBe(shown);
});

test("a name without dots is hidden with its port only: it may be a word", () => {
  const text = "Start it with `ollama serve`: ollama:11434 does not answer.";
  expect(hideAddress(text, "http://ollama:11434/v1")).toBe(
    "Start it with `ollama serve`: (hidden) does not answer.",
  );
});

test("without an address, URLs are hidden, and hosts that nobody knows", () => {
  expect(hideAddress("getaddrinfo ENOTFOUND mcp.lan.")).toBe("getaddrinfo ENOTFOUND (hidden).");
  expect(hideAddress("fetch of http://a/b failed")).toBe("fetch of (hidden) failed");
});
