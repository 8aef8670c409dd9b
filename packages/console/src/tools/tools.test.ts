// The page of the tools in a real browser, with local tools and MCP servers.
import { tool } from "rondo";
import { describe, expect, test } from "vitest";
import { startNotebook } from "../../../server/src/executor/mcp/testkit/notebook-server.ts";
import { browserPath, openConsole, skipReason } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";

const report = tool(
  {
    name: "report",
    description: "The weather of a city.",
    input: {
      type: "object",
      properties: {
        city: { type: "string", description: "Its name." },
        days: { type: "integer", default: 3 },
        unit: { enum: ["celsius", "fahrenheit"] },
      },
      required: ["city"],
    },
    registry: false,
  },
  async (input: unknown) => ({ asked: input }),
);
const nested = tool(
  {
    name: "nested",
    description: "Takes a list.",
    input: { type: "object", properties: { list: { type: "array", items: { type: "string" } } } },
    registry: false,
  },
  async () => {
    throw new Error("It <b>fails</b> on purpose.");
  },
);

describe.skipIf(browserPath === undefined)(`the tools${skipReason}`, () => {
  const browser = sharedBrowser();

  test("runs a local tool by a form, shows a failure, and runs one of an MCP server", async () => {
    const notebook = await startNotebook();
    await using server = await startConsole({
      tools: [report, nested],
      sandbox: { kind: "none" },
      mcp: {
        servers: {
          notes: { url: notebook.url, requireApproval: ["pay"] },
          gone: { url: "http://127.0.0.1:9/" },
        },
      },
    });
    await using opened = await openConsole(browser, server.url, "#/tools");
    const { page, problems } = opened;
    const list = page.getByRole("navigation", { name: "Tools" });
    const result = page.getByRole("group", { name: "Output" });
    const run = page.getByRole("button", { name: "Run", exact: true });

    // A form of the schema's fields, with the defaults.
    await list.getByRole("link", { name: /^report/ }).click();
    await run.click();
    await page.getByText("The tool needs a value here.").waitFor();
    await page.getByLabel("city").fill("Bern <i>");
    await page.getByLabel("unit").selectOption("celsius");
    await page.getByLabel("city").press("Control+Enter");
    await expect
      .poll(async () => JSON.parse((await result.textContent({ timeout: 5_000 })) ?? "null"))
      .toEqual({ asked: { city: "Bern <i>", days: 3, unit: "celsius" } });
    await page.getByRole("button", { name: "Edit as JSON" }).click();
    const json = page.getByLabel("Arguments as JSON");
    expect(JSON.parse(await json.inputValue())).toEqual({ city: "Bern <i>", days: 3, unit: "celsius" });
    await json.fill("{");
    await run.click();
    await page.getByText("This is not JSON").waitFor();
    await json.fill('{"city":1}');
    await run.click();
    await page.getByText("The tool did not run.").waitFor();

    // JSON for what is not flat; a tool that fails says so, as text.
    await list.getByRole("link", { name: /^nested/ }).click();
    await page.getByLabel("Arguments as JSON").fill('{"list":["a"]}');
    await run.click();
    await page.getByRole("status", { name: "Result" }).getByText("Error", { exact: true }).waitFor();
    expect(await result.textContent()).toContain("It <b>fails</b> on purpose.");

    // MCP servers: one answers, the other says what is wrong. The address names the tool.
    await list.getByText("connected").waitFor();
    await list.getByText("failed", { exact: true }).waitFor();
    await list.getByText("'gone' did not start").waitFor();
    await page.getByRole("searchbox", { name: "Search tools" }).fill("pays");
    await expect.poll(() => list.getByRole("link").count()).toBe(1);
    await list.getByRole("link", { name: /^pay/ }).click();
    await page.getByText("asks for approval").waitFor();
    await page.reload();
    await page.getByLabel("n integer required").fill("4");
    await run.click();
    await expect.poll(() => notebook.calls).toEqual(['pay({"n":4})']);
    await expect.poll(() => result.textContent()).toBe("pay 4 done");
    await page.goBack();
    await page.getByRole("heading", { level: 2, name: "nested" }).waitFor();
    expect(problems.filter((line) => !line.includes("400"))).toEqual([]);
  });

  test("says what to do where there are no tools", async () => {
    await using server = await startConsole({ sandbox: { kind: "none" } });
    await using opened = await openConsole(browser, server.url, "#/tools");
    await opened.page.getByText("This server has no tools yet").waitFor();
    expect(opened.problems).toEqual([]);
  });
});
