// The doctor as a test calls it: without a process, and with no other places than the test's own.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { ServerStep } from "rondo/testing";
import { Exit } from "../../cli-io.ts";
import { type TestIoOptions, testIo } from "../../testkit/test-io.ts";
import { doctorCommand, type UsualPlaces } from "../doctor.ts";
import type { DoctorReport } from "../report.ts";

/** No port of this machine, and one at which nobody can listen. */
const nowhere: UsualPlaces = { modelPorts: {}, rondoPort: 0 };

export async function runDoctor(
  args: readonly string[],
  { places = nowhere, ...options }: TestIoOptions & { places?: UsualPlaces } = {},
) {
  // Its probes take a moment, and say nothing about models.
  const io = testIo({ ...options, env: { RONDO_SANDBOX_KIND: "none", ...options.env } });
  const exitCode = await doctorCommand(io, places)
    .exitOverride()
    .configureOutput({ writeErr: (text) => io.writeError(text), writeOut: (text) => io.write(text) })
    .parseAsync(args, { from: "user" })
    .then(
      () => 0,
      (error: unknown) => {
        if (error instanceof Exit) return error.exitCode;
        throw error;
      },
    );
  return { io, exitCode, out: io.out };
}

/** What `--json` prints, and the exit code. */
export async function reportOf(args: readonly string[], options?: Parameters<typeof runDoctor>[1]) {
  const { exitCode, out } = await runDoctor([...args, "--json"], options);
  return { exitCode, report: JSON.parse(out) as DoctorReport };
}

/** A model server's answer of a model that can do all that is asked of it. */
export const ableModel: ServerStep = ({ body }) => {
  const { messages = [], stream } = body as {
    messages?: { role: string; content: string }[];
    stream?: boolean;
  };
  const last = messages.at(-1);
  const message = (content: string) => ({
    choices: [{ message: { role: "assistant", content }, finish_reason: "stop" }],
  });
  if (stream === false) return { body: message("pong") };
  if (last?.role === "tool") return { text: ["The sum is ", "138,974."] };
  if (last?.content.includes("tool add"))
    return { calls: [{ name: "add", input: { a: 48_213, b: 90_761 } }] };
  // Pieces that come together would be read as one.
  return { text: ["1, 2, 3, ", "4, 5"], chunkDelayMs: 10 };
};

export interface Listening extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
}

/** A server on loopback that does what `listener` does. */
export async function listening(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** An address at which nothing listens. */
export async function deadUrl(): Promise<string> {
  await using server = await listening(() => {});
  return server.url;
}
