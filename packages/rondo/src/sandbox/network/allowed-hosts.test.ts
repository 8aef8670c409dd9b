import fc from "fast-check";
import { expect, test } from "vitest";
import { isAllowedHost, narrowAllowedHosts, normalizedHost, parseAllowedHosts } from "./allowed-hosts.ts";

const isIn = (list: readonly string[], host: string, port = 443) =>
  isAllowedHost(parseAllowedHosts("allow", list), normalizedHost(host) ?? "", port);

test.each([
  [["pypi.org"], "pypi.org", 443],
  [["pypi.org"], "PyPI.org.", 80],
  [["*.example.com"], "a.b.example.com", 443],
  [["example.com:8080"], "example.com", 8080],
  [["*"], "anything.example", 443],
  [["bücher.example"], "xn--bcher-kva.example", 443],
  [["[2606:4700::1111]"], "[2606:4700:0::1111]", 443],
])("%j allows %s:%i", (list, host, port) => {
  expect(isIn(list, host, port)).toBe(true);
});

test.each([
  [[], "pypi.org", 443],
  [["pypi.org"], "pypi.org", 22],
  [["pypi.org"], "evil-pypi.org", 443],
  [["pypi.org"], "pypi.org.evil.example", 443],
  [["pypi.org"], "a.pypi.org", 443],
  [["*.example.com"], "example.com", 443],
  [["*.example.com"], "badexample.com", 443],
  [["example.com:8080"], "example.com", 443],
])("%j does not allow %s:%i", (list, host, port) => {
  expect(isIn(list, host, port)).toBe(false);
});

test.each([
  "",
  "a b",
  "http://a.example",
  "a.example/x",
  "user@a.example",
  "*.*",
  "a.*.example",
  "*.1.2.3.4",
  "a:0",
  "a:99999",
  "a:",
  "a%2e",
  "a\\b",
  5,
])("refuses an entry that is not a host: %j", (entry) => {
  expect(() => parseAllowedHosts("allow", [entry])).toThrow(/expected a host such as/i);
});

test("a request narrows what is allowed, and never widens it", () => {
  expect(
    narrowAllowedHosts(
      ["*.example.com", "pypi.org", "db.example:5432"],
      ["a.example.com", "pypi.org:443", "db.example"],
    ),
  ).toEqual({
    allow: ["a.example.com", "pypi.org:443", "db.example:5432"],
    refused: [],
  });
  expect(narrowAllowedHosts(["pypi.org"], ["*", "*.pypi.org", "pypi.org:22", "evil.example"])).toEqual({
    allow: [],
    refused: ["*", "*.pypi.org", "pypi.org:22", "evil.example"],
  });
  const host = fc.constantFrom(
    "a.b.example",
    "*.b.example",
    "b.example",
    "*.example",
    "*",
    "c.example:81",
    "*:443",
    "1.2.3.4",
  );
  const names = ["a.b.example", "b.example", "x.b.example", "c.example", "example", "other.test", "1.2.3.4"];
  fc.assert(
    fc.property(
      fc.array(host),
      fc.array(host),
      fc.constantFrom(...names),
      fc.constantFrom(80, 443, 81),
      (outer, inner, name, port) => {
        const { allow } = narrowAllowedHosts(outer, inner);
        expect(isIn(outer, name, port) || !isIn(allow, name, port)).toBe(true);
      },
    ),
  );
});
