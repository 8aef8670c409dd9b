// Serves the console: its page at `/`, and the page's files below `/console/`. They are built into the package.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { OutgoingHttpHeaders } from "node:http";
import { findPackageJSON } from "node:module";
import { dirname, extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { notFound } from "../protocol/api-error.ts";
import type { Exchange } from "./exchange.ts";

/** A file, ready to be sent. */
interface ConsoleFile {
  readonly headers: OutgoingHttpHeaders;
  readonly content: Buffer;
  readonly gzipped: Buffer;
}

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

// Images of chats are data URLs and blobs; everything else comes from here, and no code is inline.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const commonHeaders = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

const pageHeaders = {
  ...commonHeaders,
  "content-security-policy": contentSecurityPolicy,
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  "x-frame-options": "DENY",
  "cache-control": "no-cache",
};

export class ConsoleFiles {
  readonly #folder: string;
  #files: ReadonlyMap<string, ConsoleFile> | undefined;

  /** Default for `folder`: where the build puts the console in this package. */
  constructor(folder = join(dirname(findPackageJSON(import.meta.url) ?? ""), "console")) {
    this.#folder = folder;
  }

  /** Sends the page. */
  sendPage(exchange: Exchange): void {
    const page = this.#all().get("index.html");
    if (page) send(exchange, page);
    else
      exchange.text(
        503,
        "The console is not built. In the repository, `npm run build` builds it; a package always has it.\n",
        "text/plain; charset=utf-8",
      );
  }

  /** Sends a file that the page needs, by its name. Throws a 404. */
  sendFile(exchange: Exchange, name: string): void {
    const file = this.#all().get(`console/${name}`);
    if (!file)
      throw notFound(
        "The console has no such file. Reload its page: it may be of another version.",
        "unknown_console_file",
      );
    send(exchange, file);
  }

  // On the first request, and only what is there then: a request never names a path on the disk.
  #all(): ReadonlyMap<string, ConsoleFile> {
    this.#files ??= readFiles(this.#folder);
    return this.#files;
  }
}

/** Whether a person's browser asks, and not a program. */
export function asksForPage({ incoming }: Exchange): boolean {
  return /\btext\/html\b/i.test(incoming.headers.accept ?? "");
}

function readFiles(folder: string): ReadonlyMap<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  for (const name of [...namesIn(folder), ...namesIn(join(folder, "console")).map((it) => `console/${it}`)]) {
    const contentType = contentTypes[extname(name)];
    if (contentType === undefined) continue;
    const content = readFileSync(join(folder, name));
    const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
    const headers =
      name === "index.html"
        ? pageHeaders
        : // The names contain a hash of the content.
          { ...commonHeaders, "cache-control": "public, max-age=31536000, immutable" };
    files.set(name, {
      headers: { ...headers, "content-type": contentType, etag, vary: "Accept, Accept-Encoding" },
      content,
      gzipped: gzipSync(content, { level: 9 }),
    });
  }
  return files;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((it) => (it.isFile() ? [it.name] : []));
  } catch {
    return []; // not built
  }
}

function send(
  { incoming, outgoing, headers: common }: Exchange,
  { headers, content, gzipped }: ConsoleFile,
): void {
  const isHead = incoming.method === "HEAD";
  if (incoming.headers["if-none-match"] === headers["etag"]) {
    outgoing.writeHead(304, { ...common, ...headers }).end();
    return;
  }
  const isGzipped = /\bgzip\b/.test(incoming.headers["accept-encoding"]?.toString() ?? "");
  const body = isGzipped ? gzipped : content;
  outgoing.writeHead(200, {
    ...common,
    ...headers,
    "content-length": body.length,
    ...(isGzipped && { "content-encoding": "gzip" }),
  });
  outgoing.end(isHead ? undefined : body);
}
