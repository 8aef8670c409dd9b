import { format as others } from "@cfworker/json-schema";
import { expect, test } from "vitest";
import { formats } from "./format.ts";

const texts: Record<string, string[]> = {
  date: ["2026-02-28", "2024-02-29", "2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "x"],
  time: [
    "10:00:00Z",
    "10:00:00.5+01:00",
    "23:59:60Z",
    "22:59:60-01:00",
    "10:00:60Z",
    "24:00:00Z",
    "10:00:00",
    "10:00Z",
  ],
  "date-time": ["2026-01-02T10:00:00Z", "2026-01-02 10:00:00+02:00", "2026-01-02", "2026-01-02T10:00:00Z T"],
  duration: ["P1D", "PT1H", "P1Y2M3DT4H5M6S", "P2W", "P", "PT", "P1YT", "P1Y2D", "PT1H1S", "1D"],
  email: [
    "ada@example.org",
    '"a b"@example.org',
    "a@[127.0.0.1]",
    "a@[IPv6:::1]",
    ".a@b.org",
    "a..b@c.org",
    "a@",
    "a@b@c",
    "@b",
  ],
  hostname: ["example.org", "a", "-a.org", "a-.org", "a..b", `${"a".repeat(64)}.org`, "ä.org", ""],
  ipv4: ["127.0.0.1", "256.0.0.1", "1.2.3", "1.2.3.4.5"],
  ipv6: [
    "::",
    "::1",
    "1::",
    "1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7",
    "::ffff:1.2.3.4",
    "1::2::3",
    "12345::",
    "1:2:3:4:5:6:7:8:9",
    ":1",
    "g::",
  ],
  uri: [
    "https://a.org/b?c#d",
    "mailto:a@b.org",
    "urn:x:y",
    "http://[::1]:80/",
    "http://u:p@h/",
    "http://[::g]/",
    "/relative",
    "a b:c",
    "http://a/%zz",
    "http://a/<b>",
    "data:text/plain,a%20b",
  ],
  "uri-reference": ["/a/b", "a", "#x", "?q", "//h/p", "a b", "\\a", "%"],
  "uri-template": ["/a/{b}", "/{+a,b*}{?c:3}", "{", "}", "/{a b}", "a b"],
  uuid: ["123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000", "x"],
  regex: ["^a+$", "(", "[a"],
  "json-pointer": ["", "/a/b~0~1", "a", "/~2"],
  "json-pointer-uri-fragment": ["#", "#/a", "/a", "#/%zz"],
  "relative-json-pointer": ["0", "1/a", "0#", "01", "/a", "#"],
};

test.each(Object.entries(texts))("%s is what others take it for", (name, cases) => {
  for (const text of cases) expect([text, formats.get(name)?.(text)]).toEqual([text, others[name]?.(text)]);
});

test("an url is one of the web", () => {
  expect(formats.get("url")?.("https://example.org/a")).toBe(true);
  expect(formats.get("url")?.("mailto:a@b.org")).toBe(false);
});

test("there is one for each that others have", () => {
  expect([...formats.keys()].toSorted()).toEqual(Object.keys(others).toSorted());
});

// They come back: with an expression that tries many ways, each of these would take longer than anybody waits.
test.each([...formats.keys()])("%s says no to long texts of all kinds", (name) => {
  for (const unit of [
    "a",
    "a.",
    "a-",
    "1",
    "1:",
    "%41",
    "/",
    "~0",
    "{a",
    "{a,",
    "@",
    ":",
    "[",
    "P1D",
    "http://a-",
  ])
    for (const start of ["", "http://", "a@", "#/", "P", "{"]) {
      const text = `${start}${unit.repeat(50_000)}\n\u0000 "`;
      expect([name, unit, start, formats.get(name)?.(text)]).toEqual([name, unit, start, false]);
    }
});
