import { describe, expect, test } from "vitest";
import { type FilterArch, seccompFilter } from "./seccomp.ts";

const allow = 0x7fff_0000;
const kill = 0x8000_0000;
const fails = (errno: number) => 0x0005_0000 | errno;

describe.each([
  [
    "x64",
    0xc000003e,
    { read: 0, ptrace: 101, socket: 41, clone: 56, io_uring: 425, fallocate: 285, ioctl: 16 },
  ],
  [
    "arm64",
    0xc00000b7,
    { read: 63, ptrace: 117, socket: 198, clone: 220, io_uring: 425, fallocate: 47, ioctl: 29 },
  ],
] as const)("the filter for %s", (arch: FilterArch, audit, numbers) => {
  const filter = seccompFilter(arch, { hasMemoryCgroup: true });
  const decide = (number: number, ...args: number[]) => runFilter(filter, number, audit, args);

  test("allows what programs need, and refuses what reaches into the kernel", () => {
    expect(decide(numbers.read)).toBe(allow);
    expect(decide(numbers.ptrace)).toBe(fails(1));
    expect(decide(numbers.io_uring)).toBe(fails(38));
    expect(decide(numbers.fallocate)).toBe(fails(95));
    expect(decide(463)).toBe(fails(38));
  });

  test("looks at the arguments of sockets, clones and terminals", () => {
    for (const family of [1, 2, 10]) expect(decide(numbers.socket, family)).toBe(allow);
    for (const family of [16, 17, 40, 38]) expect(decide(numbers.socket, family)).toBe(fails(97));
    expect(decide(numbers.clone, 0x0100_0011)).toBe(allow);
    expect(decide(numbers.clone, 0x1000_0011)).toBe(fails(1));
    expect(decide(numbers.ioctl, 1, 0x5401)).toBe(allow);
    expect(decide(numbers.ioctl, 1, 0x5412)).toBe(fails(1));
  });

  test("kills programs of another architecture", () => {
    expect(runFilter(filter, numbers.read, 0x4000_0003, [])).toBe(kill);
    // Calls of x32 have this bit; other machines have no such calls.
    expect(decide(0x4000_0000 + 1)).toBe(arch === "x64" ? kill : fails(38));
  });

  test("hides memory that is not counted where no group counts it", () => {
    const memfd = arch === "x64" ? 319 : 279;
    expect(decide(memfd)).toBe(allow);
    expect(runFilter(seccompFilter(arch, { hasMemoryCgroup: false }), memfd, audit, [])).toBe(fails(38));
  });
});

/** The kernel's interpreter, as far as the filter uses it. */
function runFilter(filter: Buffer, number: number, audit: number, args: readonly number[]): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(audit, 4);
  for (const [index, value] of args.entries()) data.writeUInt32LE(value, 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const code = filter.readUInt16LE(at * 8);
    const value = filter.readUInt32LE(at * 8 + 4);
    const isTrue =
      code === 0x15
        ? accumulator === value
        : code === 0x35
          ? accumulator >= value
          : (accumulator & value) !== 0;
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x06) return value;
    else at += filter.readUInt8(at * 8 + (isTrue ? 2 : 3));
  }
  throw new Error("The filter does not end.");
}
