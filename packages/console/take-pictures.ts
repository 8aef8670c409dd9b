// Takes the pictures of docs/console.md: `node --conditions=rondo-source packages/console/take-pictures.ts`

import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { tool } from "rondo";
import { scriptedModel } from "rondo/testing";
import { openConsole, startBrowser } from "./src/testkit/browser.ts";
import { startConsole } from "./src/testkit/console-server.ts";

const folder = fileURLToPath(new URL("../../docs/pictures/", import.meta.url));
mkdirSync(folder, { recursive: true });

const question = "What is the weather in Oslo and Paris? Compare them in a table.";
const cities: Readonly<Record<string, string>> = { Oslo: "4 °C, rain", Paris: "11 °C, clouds" };
const weather = tool("get_weather", "Tells the weather of a city.", { city: String }, async ({ city }) => {
  await new Promise((resolve) => setTimeout(resolve, 40));
  return cities[city] ?? "unknown";
});
const search = tool("search_docs", "Searches the documentation.", { query: String }, () => "Nothing found.");

const answer = `Both cities need a coat today:

| city | temperature | sky |
|---|---:|---|
| Oslo | 4 °C | rain |
| Paris | 11 °C | clouds |

To ask again in a program:

\`\`\`ts
const { output_text } = await openai.responses.create({ model: "qwen3:8b", input });
\`\`\`
`;
const usage = { inputTokens: 412, outputTokens: 96, totalTokens: 508, cachedTokens: 320 };
const round = {
  thinking: "The user wants two cities, so I ask for both at once.",
  calls: ["Oslo", "Paris"].map((city) => ({ name: "get_weather", input: { city } })),
  delayMs: 60,
  usage,
};
const model = scriptedModel([round, { text: answer, delayMs: 90, usage }]);
await using server = await startConsole({
  models: { "qwen3:8b": model },
  tools: [weather, search],
  traces: "full",
});
const browser = await startBrowser();

/** As WebP, which is a third of a PNG. */
async function keep(page: Page, name: string): Promise<void> {
  const png = (await page.screenshot()).toString("base64");
  const blank = await browser.newPage();
  const webp = await blank.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width;
    canvas.height = image.height;
    canvas.getContext("2d")?.drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.8);
  }, png);
  await blank.close();
  const bytes = Buffer.from(webp.slice(webp.indexOf(",") + 1), "base64");
  writeFileSync(`${folder}${name}.webp`, bytes);
  console.log(`${name}.webp: ${bytes.length} bytes`);
}

try {
  await using opened = await openConsole(browser, server.url, "#/chat", {
    viewport: { width: 1200, height: 760 },
    timezoneId: "UTC",
    locale: "en",
  });
  const { page } = opened;
  await page.getByRole("textbox", { name: "Write a message" }).fill(question);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Again" }).waitFor();
  await page.locator(".chat-call summary").first().click();
  await page.mouse.move(0, 0);
  await keep(page, "chat");
  await page.getByRole("link", { name: "Run", exact: true }).click();
  await page.getByText("get_weather").first().waitFor();
  await page.waitForLoadState("networkidle");
  await keep(page, "run");
  for (const name of ["Home", "Runs", "Tools", "Models", "System"]) {
    await page.emulateMedia({ colorScheme: name === "Runs" || name === "System" ? "dark" : "light" });
    await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    await keep(page, name.toLowerCase());
  }
} finally {
  await browser.close();
}
