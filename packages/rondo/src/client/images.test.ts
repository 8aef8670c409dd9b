import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collectWarnings } from "../testkit/warnings.ts";
import { image } from "./images.ts";

describe("image.fromUrl", () => {
  test.each([
    "https://example.org/cat.png",
    "http://localhost:8080/cat?size=1",
    "HTTPS://EXAMPLE.ORG/cat.png",
    "data:image/png;base64,AAAA",
    "data:image/svg+xml;base64,AAA=",
  ])("takes %s", (url) => {
    expect(image.fromUrl(url)).toEqual({ type: "image_url", image_url: { url } });
  });

  test("keeps the given detail", () => {
    expect(image.fromUrl("https://example.org/cat.png", { detail: "low" })).toEqual({
      type: "image_url",
      image_url: { url: "https://example.org/cat.png", detail: "low" },
    });
  });

  test.each([
    "",
    "cat.png",
    "/cat.png",
    "//example.org/cat.png",
    "javascript:alert(1)",
    "file:///cat.png",
    "ftp://example.org/cat.png",
    "https://",
    "https://example.org/\ncat.png",
    "https://example.org/\u0000cat.png",
    "\thttps://example.org/cat.png",
    "data:image/png,AAAA",
    "data:image/png;base64",
  ])("refuses %j, and says what to do for a file", (url) => {
    expect(() => image.fromUrl(url)).toThrow(
      /^url: expected an http:, https: or data:image.*image\.fromBytes\(\)/,
    );
  });

  test.each([
    ["data:text/html;base64,AAAA", "url: expected an image's type"],
    ["data:image/png;base64,", "url: expected base64"],
    ["data:image/png;base64,A A=", "url: expected base64"],
    ["data:image/png;charset=x;base64,AAAA", "url: expected an image's type"],
  ])("refuses the data URL %j", (url, message) => {
    expect(() => image.fromUrl(url)).toThrow(message);
  });

  test("warns of a very long URL, without printing all of it", () => {
    const warnings = collectWarnings();
    image.fromUrl(`https://example.org/${"a".repeat(2_000)}`);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("2020 characters");
    expect(warnings[0]?.length).toBeLessThan(200);
  });
});

describe("image.fromBase64", () => {
  test("makes a data URL", () => {
    expect(image.fromBase64("iVBORw==", "image/png", { detail: "high" })).toEqual({
      type: "image_url",
      image_url: { url: "data:image/png;base64,iVBORw==", detail: "high" },
    });
  });

  test.each(["", "AAA", "AAAA\n", "A===", "====A", "AA=A", "AA-_", "data:image/png;base64,AAAA"])(
    "refuses the data %j",
    (data) => {
      expect(() => image.fromBase64(data, "image/png")).toThrow(/^data: expected base64/);
    },
  );

  test.each(["", "png", "text/html", "image/", "image/png;x", "image/png,x", "image/png\n", "image/png\r"])(
    "refuses the type %j",
    (mimeType) => {
      expect(() => image.fromBase64("AAAA", mimeType)).toThrow(/^mimeType: expected an image's type/);
    },
  );

  test("warns of more than 10 MB", () => {
    const warnings = collectWarnings();
    image.fromBase64("A".repeat(4 * 3_333_333), "image/png");
    expect(warnings).toEqual([]);
    image.fromBase64("A".repeat(4 * 4_000_000), "image/png");
    expect(warnings).toEqual(["An image has 12 MB, which most servers reject: make it smaller."]);
  });
});

describe("image.fromBytes", () => {
  test("gives the same as base64, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 50 }), fc.nat({ max: 3_000 }), (unit, repeats) => {
        // Also more bytes than are taken at once.
        const bytes = Uint8Array.from(
          { length: unit.length * (repeats + 1) },
          (_, at) => unit[at % unit.length] ?? 0,
        );
        const data = Buffer.from(bytes).toString("base64");
        const expected = image.fromBase64(data, "image/png");
        expect(image.fromBytes(bytes, "image/png")).toEqual(expected);
        expect(image.fromBytes(bytes.slice().buffer, "image/png")).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  });

  test("accepts the Buffer of a file", async () => {
    const file = new URL(import.meta.url);
    const { image_url: made } = image.fromBytes(await readFile(file), "image/png");
    expect(Buffer.from(made.url.split(",")[1] ?? "", "base64")).toEqual(await readFile(file));
  });

  test("refuses anything but bytes, and no bytes", () => {
    expect(() => image.fromBytes("cat.png" as never, "image/png")).toThrow(
      'bytes: expected a Uint8Array, got "cat.png".',
    );
    expect(() => image.fromBytes(new Uint8Array(), "image/png")).toThrow("data: expected base64");
  });
});

test.each([
  [{ detail: "medium" }, 'detail: expected low, high or auto, got "medium".'],
  [{ details: "low" }, "options.details: expected one of the options detail"],
])("the options %j are refused", (options, message) => {
  expect(() => image.fromUrl("https://example.org/", options as object)).toThrow(message);
});
