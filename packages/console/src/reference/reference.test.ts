// The reference in a real browser, from the document of a real server.
import { describe, expect, test } from "vitest";
import { browserPath, openConsole, skipReason } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";
import { curlOf, quote } from "./curl.ts";
import { fitsSearch, groupOperations, operationsOf } from "./operations.ts";

describe.skipIf(browserPath === undefined)(`the reference${skipReason}`, () => {
  const browser = sharedBrowser();

  test("finds an operation, shows what it takes and replies, and its curl works", async () => {
    await using server = await startConsole();
    await using opened = await openConsole(browser, server.url, "#/reference");
    const { page, problems } = opened;
    await page.getByRole("searchbox", { name: "Search operations" }).fill("post createResponse");
    const links = page.getByRole("navigation", { name: "Operations" }).getByRole("link");
    await expect.poll(() => links.count()).toBe(1);
    await links.click();
    await page.getByRole("heading", { level: 2, name: "/v1/responses", exact: true }).waitFor();
    expect(page.url()).toContain("#/reference/createResponse");

    // What is inside a field is there when it is opened.
    const model = page.locator(".schema-name", { hasText: /^reasoning$/ });
    await model.first().click();
    await page
      .locator(".schema-name", { hasText: /^effort$/ })
      .first()
      .waitFor();

    const curl = (await page.getByRole("group", { name: "curl" }).textContent()) ?? "";
    const body = /-d '(.*)'/.exec(curl)?.[1] ?? "";
    expect(curl).toContain(`${server.url}/v1/responses`);
    const reply = await fetch(`${server.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(reply.status).toBe(200);

    await page.reload();
    await page.getByRole("heading", { level: 2, name: "/v1/responses", exact: true }).waitFor();
    expect(problems).toEqual([]);
  });
});

describe("the operations of a document", () => {
  test("are read whatever the document is", () => {
    for (const document of [undefined, null, 1, "x", [], { paths: [] }, { paths: { "/a": { get: 1 } } }])
      expect(operationsOf(document)).toEqual([]);
    expect(operationsOf({ paths: { "/v1/x": { get: { parameters: [null, 1] } } } })).toHaveLength(1);
  });

  test("are grouped by their path, and found by all words", () => {
    const paths = { "/v1/responses": { post: { summary: "Run a model" } }, "/healthz": { get: {} } };
    const operations = operationsOf({ paths });
    expect(groupOperations(operations).map(([group]) => group)).toEqual(["Responses", "Server"]);
    expect(operations.map((each) => fitsSearch(each, "model run"))).toEqual([true, false]);
  });

  test("become commands in which a schema cannot add a word", () => {
    const schema = { type: "object", required: ["a"], properties: { a: { const: "'; touch /tmp/x; '" } } };
    const paths = { "/v1/x": { post: { requestBody: { content: { "application/json": { schema } } } } } };
    const [operation] = operationsOf({ paths });
    if (!operation) throw new Error("There is an operation.");
    const text = curlOf(operation, { url: "http://h", hasKey: true, document: {}, model: "m" });
    expect(text).toContain(`-d '{"a":"'\\''; touch /tmp/x; '\\''"}'`);
    expect(text).toContain('"authorization: Bearer $RONDO_API_KEY"');
    expect(quote("a b")).toBe("'a b'");
  });
});
