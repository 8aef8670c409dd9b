import { describe, expect, test } from "vitest";
import { ApiError } from "./api-error.ts";
import { parseChatFrame } from "./chat-request.ts";
import { parseAddItems, parseCreateConversation } from "./conversation.ts";
import { checkUrls, defaultUrlRules, type UrlRules } from "./input-urls.ts";
import { read, refusalOf } from "./testkit/requests.ts";

function isAllowed(url: string, rules: Partial<UrlRules> = {}, field = "image_url"): boolean {
  try {
    checkUrls({ [field]: url }, { ...defaultUrlRules, ...rules });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === "url_not_allowed" && error.param === field) return false;
    throw error;
  }
}

test.each([
  "https://example.org/a.png",
  "http://example.org:8080/a.png?b=c#d",
  "HTTPS://EXAMPLE.ORG",
  "https://example.org/a%20b/@c",
  "https://8.8.8.8/a.png",
  "https://[2606:4700:4700::1111]/a.png",
  "https://münchen.example/ä.png",
  "https://local.example.org/",
  "data:image/png;base64,AA==",
  "DATA:image/svg+xml,x",
  "data:image/*;base64,AA==",
])("a public URL is taken: %s", (url) => {
  expect(isAllowed(url)).toBe(true);
});

test.each([
  "http://127.0.0.1/",
  "http://127.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0x7f.1/",
  "http://0177.0.0.1/",
  "http://017700000001/",
  "http://127.0.0.1./",
  "http://①②⑦.⓪.⓪.①/",
  "http://127。0。0。1/",
  "http://0/",
  "http://0.0.0.0/",
  "http://10.1.2.3/",
  "http://172.16.0.1/",
  "http://192.168.1.1/",
  "http://100.64.0.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://[::1]/",
  "http://[::]/",
  "http://[0:0:0:0:0:0:0:1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[fe80::1]/",
  "http://[fd00::1]/",
  "http://[2002:7f00:1::]/",
  "http://localhost/",
  "http://LOCALHOST:11434/",
  "http://localhost./",
  "http://ｌｏｃａｌｈｏｓｔ/",
  "http://a.localhost/",
  "http://printer.local/",
  "http://metadata.google.internal/",
  "http://metadata.google.internal./",
  "http://router.lan/",
  "http://nas.home.arpa/",
  "http://localhost.localdomain/",
  "http://vault.default.svc/",
  "http://redis:6379/",
])("a private host is refused: %s", (url) => {
  expect(isAllowed(url)).toBe(false);
});

test.each([
  "http://user@example.org/",
  "http://user:pass@example.org/",
  "http://example.org\\@127.0.0.1/",
  "http:\\\\127.0.0.1/",
  "http:/127.0.0.1/",
  "http:127.0.0.1",
  "http:///127.0.0.1/",
  "http://example.org\n.evil/",
  "http://example.org/\r\nx: y",
  "http://exa\tmple.org/",
  "http://127.0.0.1%2f.example.org/",
  "http://%31%32%37.0.0.1/",
  "http://example.org:99999/",
  "http://1.2.3.4.5/",
  `https://example.org/${"x".repeat(9000)}`,
])("what parsers may read in different ways is refused: %j", (url) => {
  expect(isAllowed(url)).toBe(false);
});

test.each([
  "file:///etc/passwd",
  "FILE:/etc/passwd",
  " file:///etc/passwd",
  "ftp://example.org/",
  "gopher://example.org/",
  "s3://bucket/key",
  "javascript:alert(1)",
  "/etc/passwd",
  "//example.org/a.png",
  "cat.png",
  "data:text/html,x",
  "data:,x",
])("another scheme is refused: %j", (url) => {
  expect(isAllowed(url)).toBe(false);
});

test("a file may be in a data URL of any type", () => {
  expect(isAllowed("data:application/pdf;base64,AA==", {}, "file_url")).toBe(true);
});

describe("the config", () => {
  test.each([
    [["localhost"], "http://localhost:8000/a.png", true],
    [["localhost:8000"], "http://localhost:8000/a.png", true],
    [["localhost:8000"], "http://localhost:9000/a.png", false],
    [["localhost"], "http://127.0.0.1/", false],
    [["127.0.0.1"], "http://2130706433/", true],
    [["::1"], "http://[::1]:80/", true],
    [["Files"], "http://files/a.png", true],
    [["*"], "http://169.254.169.254/", true],
  ])("allows private hosts with %j: %s %s", (allowPrivate, url, expected) => {
    expect(isAllowed(url, { allowPrivate })).toBe(expected);
  });

  test("allows other schemes, or fewer", () => {
    expect(isAllowed("file:///data/a.png", { schemes: ["file"] })).toBe(true);
    expect(isAllowed("https://example.org/", { schemes: ["data"] })).toBe(false);
  });
});

describe("in whatever field it is", () => {
  const bad = "http://127.0.0.1/";
  const image = { type: "input_image", image_url: bad };

  test.each([
    [
      "a message",
      { role: "user", content: [{ type: "input_text", text: "a" }, image] },
      "content[1].image_url",
    ],
    [
      "an object",
      { role: "user", content: [{ type: "input_image", image_url: { url: bad } }] },
      "content[0].image_url.url",
    ],
    ["a file", { role: "user", content: [{ type: "input_file", file_url: bad }] }, "content[0].file_url"],
    [
      "the output of a function",
      { type: "function_call_output", call_id: "c", output: [image] },
      "output[0].image_url",
    ],
    [
      "the output of a custom tool",
      { type: "custom_tool_call_output", call_id: "c", output: [image] },
      "output[0].image_url",
    ],
    [
      "an item of an unknown type",
      { type: "computer_call_output", output: { type: "computer_screenshot", image_url: bad } },
      "output.image_url",
    ],
    [
      "a part of an unknown type",
      { role: "user", content: [{ type: "x", video_url: bad }] },
      "content[0].video_url",
    ],
  ])("a URL is looked at: in %s", (_name, item, path) => {
    expect(refusalOf({ input: [item] })[0]).toBe(`input[0].${path}`);
    const items = { items: [item] };
    expect(() => parseAddItems(items, { maxItems: 9 })).toThrow(`items[0].${path}: expected`);
    expect(() => parseCreateConversation(items, { maxItems: 9 })).toThrow(`items[0].${path}: expected`);
    expect(
      parseAddItems(items, { maxItems: 9, urls: { schemes: ["http"], allowPrivate: ["*"] } }),
    ).toHaveLength(1);
  });

  test("the message says what to do", () => {
    expect(refusalOf({ input: [{ role: "user", content: [image] }] })).toEqual([
      "input[0].content[0].image_url",
      'input[0].content[0].image_url: expected the URL of a public host, got "http://127.0.0.1/". The server\'s operator can allow it with urls.allowPrivate.',
    ]);
  });

  test("a URL in text is only text", () => {
    const content = [{ type: "input_text", text: `{"image_url":"${bad}"}` }];
    expect(read({ input: [{ role: "user", content }] }).input).toHaveLength(1);
  });

  test("a chat request is checked, except the schemas of its tools", () => {
    const chat = (part: object) => ({ model: "m", messages: [{ role: "user", content: [part] }] });
    expect(() => parseChatFrame(chat({ type: "image_url", image_url: { url: bad } }))).toThrow(ApiError);
    expect(() => parseChatFrame(chat({ type: "audio_url", audio_url: { url: bad } }))).toThrow(
      "messages[0].content[0].audio_url.url: expected",
    );
    const tools = [{ function: { parameters: { properties: { image_url: { url: bad } } } } }];
    expect(parseChatFrame({ model: "m", messages: [], tools })).toEqual({ model: "m", stream: false });
  });
});
