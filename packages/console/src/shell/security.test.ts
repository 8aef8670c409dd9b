// What protects the console: its headers, the browser guard, keys, and that texts of others stay texts.
import { request } from "node:http";
import type { Page } from "playwright-core";
import { demoModel } from "rondo/demo";
import { startModelServer } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { startNotebook } from "../../../server/src/executor/mcp/testkit/notebook-server.ts";
import { twoOwners } from "../../../server/src/http/system/testkit/start.ts";
import { axeProblems } from "../testkit/axe.ts";
import { browserPath, openConsole, skipReason, takeScreenshot } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { placesWith, respond, startFullConsole, visit } from "../testkit/pages.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";

/** The status of a request with headers that no browser lets a page choose. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

test("the page has a strict policy, and neither it nor its API is for other pages", async () => {
  await using server = await startConsole();
  const page = await fetch(server.url, { headers: { accept: "text/html" } });
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  expect(page.headers.get("x-frame-options")).toBe("DENY");
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect(await page.text()).not.toMatch(/<style|<script(?![^>]* src=)|\son\w+=|style=/);

  const { host } = new URL(server.url);
  for (const path of ["/", "/v1/system", "/v1/runs"]) {
    const own = { host, accept: "text/html, application/json" };
    expect(await statusOf(`${server.url}${path}`, own)).toBe(200);
    expect(await statusOf(`${server.url}${path}`, { ...own, host: "evil.example" })).toBe(403);
    expect(await statusOf(`${server.url}${path}`, { ...own, origin: "http://evil.example" })).toBe(403);
  }
});

test("`console: false` leaves an index for all, and none of the console's routes", async () => {
  await using server = await startConsole({ console: false });
  const index = await fetch(server.url, { headers: { accept: "text/html" } });
  expect(index.headers.get("content-type")).toContain("application/json");
  expect(await index.json()).toMatchObject({ name: "rondo", links: { responses: "/v1/responses" } });
  for (const path of ["/console/index.js", "/v1/system", "/v1/system/log", "/v1/tools"])
    expect([path, (await fetch(`${server.url}${path}`)).status]).toEqual([path, 404]);
});

describe.skipIf(browserPath === undefined)(`the console${skipReason}`, () => {
  const browser = sharedBrowser();

  test("cannot be framed, and runs no inline code", async () => {
    await using server = await startConsole();
    const context = await browser.newContext();
    const outer = await context.newPage();
    await outer.setContent(`<iframe src="${server.url}"></iframe>`);
    await expect.poll(() => outer.frames()[1]?.url()).toBe("chrome-error://chromewebdata/");
    await context.close();
    await using opened = await openConsole(browser, server.url);
    const ran = await opened.page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "globalThis.isInlineRun = true";
      document.head.append(script);
      return "isInlineRun" in globalThis;
    });
    expect(ran).toBe(false);
  });

  test("opens with a key, and everyone sees only their own", { timeout: 60_000 }, async () => {
    const { keys, auth } = twoOwners();
    await using server = await startFullConsole({ auth });
    const secret = "The plan of Ann";
    const id = await respond(server.url, { input: secret, metadata: { source: "console" } }, keys.ann);

    await using annes = await openConsole(browser, server.url, "#/runs");
    const ann = annes.page;
    const urls: string[] = [];
    ann.on("request", (asked) => urls.push(asked.url()));
    const field = ann.getByLabel("Key");
    await field.fill("rk_wrong");
    await ann.keyboard.press("Enter");
    await ann.getByText("The API key is unknown.").waitFor();
    await field.fill("with space ☃");
    await ann.keyboard.press("Enter");
    await ann.getByText("A key has no spaces and no special characters.").waitFor();
    expect(await axeProblems(ann)).toEqual([]);
    await takeScreenshot(ann, "key");
    await field.fill(keys.ann);
    await ann.keyboard.press("Enter");
    await ann.getByRole("grid").getByText(secret).waitFor();
    await ann.reload();
    await ann.getByRole("grid").getByText(secret).waitFor();
    await visit(ann, "#/chat");
    await ann.getByRole("region", { name: "Chats" }).getByText(secret).waitFor();
    await searchPalette(ann, "plan of");
    await ann.getByRole("option", { name: secret }).first().waitFor();
    await ann.keyboard.press("Escape");
    await visit(ann, "#/system");
    await ann.getByRole("log").getByText(id).first().waitFor();
    expect(urls.filter((url) => url.includes(keys.ann))).toEqual([]);
    expect(ann.url()).not.toContain(keys.ann);

    await using bobs = await openConsole(browser, server.url);
    const bob = bobs.page;
    await bob.getByLabel("Key").fill(keys.bob);
    await bob.keyboard.press("Enter");
    await bob.getByRole("heading", { name: "Rondo is running" }).waitFor();
    for (const [name, place] of placesWith(id)) {
      await visit(bob, place);
      const text = await bob.locator("body").innerText();
      expect([name, text.includes(secret), text.includes(keys.ann)]).toEqual([name, false, false]);
    }
    await visit(bob, "#/system");
    await bob.getByRole("log").getByText("owner=key:bob").first().waitFor();
    expect(await bob.getByRole("log").innerText()).not.toContain("key:ann");
    await searchPalette(bob, "plan of");
    await bob.getByText("Nothing fits.").waitFor();
    await bob.keyboard.press("Escape");

    // Forgotten: nothing stays in the tab.
    await ann.getByRole("button", { name: "Forget the key" }).click();
    await ann.getByLabel("Key").waitFor();
    expect(await ann.evaluate(() => sessionStorage.length)).toBe(0);
    expect(await ann.content()).not.toContain(secret);
  });

  test("shows texts of models, tools, MCP servers and clients as text, everywhere", {
    timeout: 60_000,
  }, async () => {
    const evil = `<img src=x onerror="globalThis.isHacked=1"><script>globalThis.isHacked=1</script>`;
    const half = "\ud83d"; // half of a character, which no address can have
    await using models = await startModelServer(
      { status: 400, body: JSON.stringify({ error: { message: evil, code: evil } }) },
      { models: [`m-${evil}`, `m-${half}`] },
    );
    const notebook = await startNotebook({
      tools: [
        { name: `t-${half}`, inputSchema: { type: "object" } },
        {
          name: `t-${evil}`,
          description: evil,
          inputSchema: {
            type: "object",
            required: [evil],
            properties: { [evil]: { type: "string", description: evil, default: evil }, b: { enum: [evil] } },
          },
        },
      ],
    });
    const broken = await startNotebook({ intercept: () => new Response(evil, { status: 500 }) });
    await using server = await startFullConsole({
      endpoints: [{ url: models.url }],
      models: { demo: demoModel() },
      mcp: { servers: { notes: { url: notebook.url }, broken: { url: broken.url } } },
    });
    const metadata = { source: "console", [evil.slice(0, 60)]: evil };
    const good = await respond(server.url, { input: evil, instructions: evil, metadata, user: evil });
    await respond(server.url, {
      input: evil,
      model: `m-${evil}`,
      background: true,
      metadata: { source: evil.slice(0, 60) },
    });
    await respond(server.url, { input: evil, model: evil });
    await respond(server.url, {
      input: half,
      model: `m-${half}`,
      background: true,
      metadata: { source: half },
    });
    await fetch(`${server.url}/v1/responses/${encodeURIComponent(evil)}`);

    await using opened = await openConsole(browser, server.url);
    const { page, problems } = opened;
    const runs = (await (await fetch(`${server.url}/v1/runs`)).json()) as {
      data: { id: string; status: string }[];
    };
    const failed = runs.data.find(({ status }) => status === "failed")?.id ?? "";
    const tool = encodeURIComponent(`t-${evil}`);
    const places = [
      ...placesWith(good).map(([, place]) => place),
      `#/runs/${failed}`,
      `#/runs?search=${encodeURIComponent(evil)}`,
      `#/tools/${tool}?server=notes`,
      `#/models/${encodeURIComponent(`m-${evil}`)}`,
      `#/reference/${encodeURIComponent(evil)}`,
      `#/${encodeURIComponent(evil)}`,
    ];
    const seen: string[] = [];
    const foreign = page.locator("img:not([src*='/console/']), main script, iframe, object, form[action]");
    for (const place of places) {
      await visit(page, place);
      if (place.startsWith("#/models/m")) {
        await page.getByRole("button", { name: "Answers" }).click();
        await page.locator(".check-detail").waitFor();
      }
      if (place.startsWith("#/tools/t")) {
        await page.getByRole("button", { name: "Run", exact: true }).click();
        await page.getByRole("group", { name: "Output" }).waitFor();
      }
      if ((await page.locator("body").innerText()).includes("<img src=x")) seen.push(place);
      expect([place, await foreign.count()]).toEqual([place, 0]);
    }
    await searchPalette(page, "img");
    await page.getByRole("option", { name: "<img" }).first().waitFor();
    // It was there to be seen, and did nothing.
    expect(seen.length).toBeGreaterThan(6);
    expect(await page.evaluate(() => "isHacked" in globalThis)).toBe(false);
    expect(problems).toEqual([]);
  });

  test("says that the server went away, and goes on where it was when it is back", async () => {
    let server = await startFullConsole();
    const { port } = new URL(server.url);
    try {
      await using opened = await openConsole(browser, server.url, "#/chat");
      const { page } = opened;
      const box = page.getByPlaceholder("Write a message");
      await box.fill("What is 25 + 17?");
      await visit(page, "#/tools/add");
      await page.getByLabel("a number").fill("25");
      await server.close();
      await searchPalette(page, "anything"); // so that it asks the server
      await page.keyboard.press("Escape");
      const banner = page.getByText("The server does not answer. Trying again");
      await banner.waitFor();
      server = await startFullConsole({ port: Number(port) });
      await banner.waitFor({ state: "detached" });
      // What was entered is still there, and works.
      await page.getByLabel("b number").fill("17");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await expect.poll(() => page.getByRole("group", { name: "Output" }).textContent()).toBe("42");
    } finally {
      await server.close();
    }
  });
});

async function searchPalette(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search" }).fill(text);
}
