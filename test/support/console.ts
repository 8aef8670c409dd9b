// The console as a browser gets it.
import { expect } from "vitest";

/** Asks for the page and all files that it names at first. */
export async function expectConsole(url: string): Promise<void> {
  const page = await fetch(url, { headers: { accept: "text/html" } });
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const files = [...(await page.text()).matchAll(/(?:src|href)="\.\/(console\/[^"]+)"/g)];
  const types = await Promise.all(
    files.map(async ([, path]) => {
      const reply = await fetch(`${url}/${path}`);
      expect([path, reply.status]).toEqual([path, 200]);
      expect((await reply.arrayBuffer()).byteLength).toBeGreaterThan(0);
      return reply.headers.get("content-type") ?? "";
    }),
  );
  expect(new Set(types)).toEqual(
    new Set(["text/javascript; charset=utf-8", "text/css; charset=utf-8", "image/svg+xml"]),
  );
}
