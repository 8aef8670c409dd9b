import { expect, test } from "vitest";
import { Endpoint } from "./endpoint.ts";

test.each([
  ["http://localhost:11434/v1", "http://localhost:11434/v1", "http://localhost:11434/v1/models"],
  ["http://localhost:11434/v1/", "http://localhost:11434/v1", "http://localhost:11434/v1/models"],
  ["http://localhost:11434", "http://localhost:11434", "http://localhost:11434/models"],
  ["https://h/v1/chat/completions", "https://h/v1", "https://h/v1/models"],
  ["https://h/v1/chat/completions/", "https://h/v1", "https://h/v1/models"],
  ["https://h/chat/completions", "https://h", "https://h/models"],
  ["https://h/v1?key=secret#x", "https://h/v1", "https://h/v1/models?key=secret"],
])("%s is called %s, and its models are at %s", (baseURL, label, models) => {
  const endpoint = new Endpoint({ baseURL });
  expect(endpoint.label).toBe(label);
  expect(endpoint.url("/models").href).toBe(models);
});

test("a user and a password in the address become a header", () => {
  const endpoint = new Endpoint({ baseURL: "http://ann:p%C3%A4ss@h/v1" });
  expect(endpoint.label).toBe("http://h/v1");
  expect(endpoint.url("/models").href).toBe("http://h/v1/models");
  expect(endpoint.headers).toEqual({ authorization: `Basic ${Buffer.from("ann:päss").toString("base64")}` });
});

test("a key beats the password in the address, and the user's own header beats both", () => {
  const baseURL = "http://ann:pass@h/v1";
  expect(new Endpoint({ baseURL, apiKey: " key\n" }).headers).toEqual({ authorization: "Bearer key" });
  const headers = { Authorization: "Other" };
  expect(new Endpoint({ baseURL, apiKey: "key", headers }).headers).toEqual({ authorization: "Other" });
});
