// Images for a message, in a real browser.
import { describe, expect, test } from "vitest";
import { browserPath, skipReason } from "../testkit/browser.ts";
import { openModule } from "../testkit/page-module.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";

interface Tested {
  readonly tested: typeof import("./images.ts");
}

describe.skipIf(browserPath === undefined)(`images of a message${skipReason}`, () => {
  const browser = sharedBrowser();

  test("what is transparent becomes white when the image is made smaller", async () => {
    await using opened = await openModule(browser, "chat/images.ts");
    const shrunk = await opened.page.evaluate(async () => {
      const drawing = new OffscreenCanvas(2_600, 600);
      drawing.getContext("2d")?.fillRect(1_300, 0, 1_300, 600); // black, beside what is transparent
      const file = new File([await drawing.convertToBlob()], "bar.png", { type: "image/png" });
      const url = await (globalThis as unknown as Tested).tested.readImage(file);
      const bitmap = await createImageBitmap(await (await fetch(url)).blob());
      const { width, height } = bitmap;
      const context = new OffscreenCanvas(width, height).getContext("2d");
      context?.drawImage(bitmap, 0, 0);
      const pixelAt = (x: number) => [...(context?.getImageData(x, 100, 1, 1).data ?? [])];
      return { type: url.slice(0, 15), width, height, left: pixelAt(100), right: pixelAt(width - 100) };
    });
    expect(shrunk).toEqual({
      type: "data:image/jpeg",
      width: 2_048,
      height: 473,
      left: [255, 255, 255, 255],
      right: [0, 0, 0, 255],
    });
  });
});
