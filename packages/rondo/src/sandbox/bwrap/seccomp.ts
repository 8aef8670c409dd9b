// The seccomp filter: a program of the kernel's classic BPF that decides about each system call.

import { checkedCalls, hiddenCalls, newestCall, refusedCalls, uncountedMemoryCalls } from "./syscalls.ts";

export type FilterArch = "x64" | "arm64";

const auditArch: Record<FilterArch, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };

// Instructions and return values of linux/bpf_common.h and linux/seccomp.h.
const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfSet = 0x45;
const returnConstant = 0x06;
const allow = 0x7fff_0000;
const killProcess = 0x8000_0000;
const failWith = (errno: number) => 0x0005_0000 | errno;

const EPERM = 1;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;

// Offsets in struct seccomp_data. Arguments are 64 bits; the filter looks at the lower half (little endian).
const callOffset = 0;
const archOffset = 4;
const argumentOffset = (index: number) => 16 + 8 * index;

const x32Bit = 0x4000_0000;
/** Namespaces: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const namespaceFlags = 0x7e02_0000;
const socketFamilies = [1 /* AF_UNIX */, 2 /* AF_INET */, 10 /* AF_INET6 */];
const terminalInputRequests = [0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */];
const queryPersonality = 0xffff_ffff;

interface Instruction {
  readonly code: number;
  readonly value: number;
  /** How many instructions to skip if it is true, and if it is false. */
  readonly ifTrue?: number;
  readonly ifFalse?: number;
}

/** The bytes of the filter, as `bwrap --seccomp` reads them. */
export function seccompFilter(arch: FilterArch, { hasMemoryCgroup }: { hasMemoryCgroup: boolean }): Buffer {
  const program: Instruction[] = [
    { code: loadWord, value: archOffset },
    { code: jumpIfEqual, value: auditArch[arch], ifTrue: 1 },
    { code: returnConstant, value: killProcess },
    { code: loadWord, value: callOffset },
  ];
  if (arch === "x64")
    program.push(
      { code: jumpIfAtLeast, value: x32Bit, ifFalse: 1 },
      { code: returnConstant, value: killProcess },
    );
  program.push(
    { code: jumpIfAtLeast, value: newestCall + 1, ifFalse: 1 },
    { code: returnConstant, value: failWith(ENOSYS) },
  );
  const column = arch === "x64" ? 0 : 1;
  const numbersOf = (calls: Readonly<Record<string, readonly number[]>>) =>
    Object.values(calls).flatMap((numbers) => numbers[column] ?? []);
  const hidden = hasMemoryCgroup ? hiddenCalls : { ...hiddenCalls, ...uncountedMemoryCalls };
  for (const number of numbersOf(hidden)) program.push(...onCall(number, [fail(ENOSYS)]));
  for (const number of numbersOf(refusedCalls)) program.push(...onCall(number, [fail(EPERM)]));
  const number = (name: keyof typeof checkedCalls) => checkedCalls[name][column];
  program.push(
    ...onCall(number("fallocate"), [fail(EOPNOTSUPP)]),
    ...onCall(number("socket"), allowOnly(0, socketFamilies, EAFNOSUPPORT)),
    ...onCall(number("personality"), allowOnly(0, [0, queryPersonality], EPERM)),
    ...onCall(number("clone"), [
      { code: loadWord, value: argumentOffset(0) },
      { code: jumpIfSet, value: namespaceFlags, ifFalse: 1 },
      fail(EPERM),
      { code: returnConstant, value: allow },
    ]),
    ...onCall(number("ioctl"), [
      { code: loadWord, value: argumentOffset(1) },
      ...terminalInputRequests.flatMap((request) => [
        { code: jumpIfEqual, value: request, ifFalse: 1 },
        fail(EPERM),
      ]),
      { code: returnConstant, value: allow },
    ]),
    { code: returnConstant, value: allow },
  );
  return assemble(program);
}

function fail(errno: number): Instruction {
  return { code: returnConstant, value: failWith(errno) };
}

/** The body must return: it may load something else over the number of the call. */
function onCall(number: number, body: readonly Instruction[]): Instruction[] {
  return [{ code: jumpIfEqual, value: number, ifFalse: body.length }, ...body];
}

function allowOnly(argument: number, values: readonly number[], errno: number): Instruction[] {
  return [
    { code: loadWord, value: argumentOffset(argument) },
    ...values.flatMap((value) => [
      { code: jumpIfEqual, value, ifFalse: 1 },
      { code: returnConstant, value: allow },
    ]),
    fail(errno),
  ];
}

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ code, value, ifTrue = 0, ifFalse = 0 }, index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return bytes;
}
