// The pages of the models and of the system in a real browser.
import { demoModel } from "rondo/demo";
import { startModelServer } from "rondo/testing";
import { describe, expect, test } from "vitest";
import type { LogLine, SystemSample } from "../api/inspect-types.ts";
import { browserPath, openConsole, skipReason } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";
import { columnsOf, figures, joinSamples } from "./figures.ts";
import { joinLines, readOn, shownLines } from "./log-lines.ts";

describe.skipIf(browserPath === undefined)(`models and the system${skipReason}`, () => {
  const browser = sharedBrowser();

  test("shows the facts of a model with their sources, and checks whether it works", async () => {
    await using modelServer = await startModelServer(
      { status: 400, body: '{"error":{"message":"No <b>luck</b>."}}' },
      { models: ["broken"] },
    );
    await using server = await startConsole({
      endpoints: [{ url: modelServer.url }],
      models: { demo: demoModel() },
    });
    await using opened = await openConsole(browser, server.url, "#/models/demo");
    const { page, problems } = opened;
    const row = page.getByRole("row", { name: "toolDialects" });
    await expect.poll(() => row.getByRole("cell").allTextContents()).toEqual(["[]", "config"]);
    const checks = page.locator(".checks");
    await page.getByRole("button", { name: "Run all checks" }).click();
    await expect.poll(() => checks.getByText("Works", { exact: true }).count()).toBe(3);

    // One that fails says why.
    await page.getByRole("navigation", { name: "Models" }).getByRole("link", { name: "broken" }).click();
    await page.getByRole("heading", { level: 2, name: "broken" }).waitFor();
    await page.getByRole("button", { name: "Streams" }).click();
    await checks.getByText("Fails", { exact: true }).waitFor();
    expect(await checks.locator(".check-detail").textContent()).toContain("No <b>luck</b>");
    await page.reload();
    await page.getByRole("heading", { level: 2, name: "broken" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("draws plots, loads what draws them only here, and follows the log with a filter", async () => {
    await using server = await startConsole();
    await using opened = await openConsole(browser, server.url, "#/reference");
    const { page, problems } = opened;
    const files: string[] = [];
    page.on("response", (reply) => files.push(new URL(reply.url()).pathname));
    const hasPlots = () => page.evaluate(() => document.querySelectorAll(".u-wrap canvas").length);
    await page.getByRole("heading", { level: 1, name: "API" }).waitFor();
    await page.getByRole("link", { name: "System", exact: true }).click();
    await expect.poll(hasPlots).toBe(figures.length);
    // A plot draws something: some of its pixels are not empty.
    const drawn = await page.evaluate(() => {
      const canvas = document.querySelectorAll<HTMLCanvasElement>(".u-wrap canvas")[5];
      const data = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      return data.some((value) => value > 0);
    });
    expect(drawn).toBe(true);
    expect(files.some((file) => file.includes("system-page"))).toBe(true);

    const log = page.getByRole("log");
    await fetch(`${server.url}/v1/responses/resp_nothing`);
    await log.getByText("path=/v1/responses/resp_nothing").waitFor();
    await page.getByRole("searchbox", { name: "Search the log" }).fill("RESP_NOTHING");
    await expect.poll(() => log.locator(".log-line").count()).toBe(1);
    await page.getByRole("combobox", { name: "Level" }).selectOption("error");
    await log.getByText("No line fits the filter.").waitFor();
    await page.reload();
    await log.getByText("No line fits the filter.").waitFor();
    expect(await page.getByRole("searchbox", { name: "Search the log" }).inputValue()).toBe("RESP_NOTHING");
    expect(problems).toEqual([]);
  });
});

describe("the figures of plots", () => {
  const sample = (atMs: number, values: Partial<SystemSample> = {}): SystemSample => ({
    at_ms: atMs,
    requests: 0,
    input_tokens: 0,
    output_tokens: 0,
    first_token_ms: null,
    rss_bytes: 0,
    heap_bytes: 0,
    queued: null,
    running: null,
    streams: 0,
    event_loop_ms: 0,
    ...values,
  });

  test("are rates over the time between two samples", () => {
    const [requests] = figures;
    if (!requests) throw new Error("There is a first figure.");
    const samples = [
      sample(1_000, { requests: 2 }),
      sample(2_000, { requests: 5 }),
      sample(6_000, { requests: 4 }),
    ];
    expect(columnsOf(requests, samples)).toEqual([
      [1, 2, 6],
      [1, 5, 1],
    ]);
  });

  test("join new samples, each once, and drop old ones", () => {
    const known = [sample(0), sample(1_000)];
    expect(joinSamples(known, [sample(1_000), sample(2_000)]).map(({ at_ms: at }) => at)).toEqual([
      0, 1_000, 2_000,
    ]);
    expect(joinSamples(known, [sample(1_000_000)]).map(({ at_ms: at }) => at)).toEqual([1_000_000]);
  });
});

describe("the lines of the log", () => {
  const line = (n: number, level = "info", fields = {}): LogLine => ({
    n,
    level,
    time: "",
    message: `line ${n}`,
    fields,
  });
  const numbers = (lines: readonly LogLine[]) => lines.map(({ n }) => n);

  test("are joined once each, and as many as the server keeps", () => {
    expect(numbers(joinLines([line(1), line(2)], [line(2), line(3)]))).toEqual([1, 2, 3]);
    const many = Array.from({ length: 1_500 }, (_, n) => line(n));
    expect(numbers(joinLines([], many)).length).toBe(1_000);
  });

  test("are read from the beginning when the server was started again, however much it logged since", async () => {
    // As the server answers: the lines after a number, or the last ones.
    const process = (bootId: string, count: number) => async (after: number | undefined) => ({
      boot_id: bootId,
      next: count,
      data: Array.from({ length: count }, (_, n) => line(n + 1)).filter(({ n }) => n > (after ?? 0)),
    });
    const first = await readOn(undefined, process("a", 3));
    expect(numbers((await readOn(first, process("a", 5))).lines)).toEqual([1, 2, 3, 4, 5]);
    for (const count of [1, 3, 7]) {
      const again = await readOn(first, process("b", count));
      expect(again).toMatchObject({ bootId: "b", next: count });
      expect(again.lines).toHaveLength(count);
    }
  });

  test("fit a level and a text, and unknown levels are never hidden", () => {
    const lines = [line(1, "debug"), line(2, "warn", { path: "/A" }), line(3, "error"), line(4, "strange")];
    expect(numbers(shownLines(lines, { level: "warn", search: "" }))).toEqual([2, 3, 4]);
    expect(numbers(shownLines(lines, { level: "debug", search: "path=/a" }))).toEqual([2]);
  });
});
