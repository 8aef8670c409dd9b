// A tier that keeps files and records in memory and runs nothing: for what the server does with containers.

import type { Container, OpenOptions, Sandbox } from "rondo/sandbox";
import { defaultLimits } from "rondo/sandbox";

interface Stored {
  record: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  readonly files: Map<string, Uint8Array>;
}

export interface MemoryTier extends Sandbox {
  /** The containers that are open now. */
  readonly opened: ReadonlySet<string>;
}

export function memoryTier(now: () => number): MemoryTier {
  const stored = new Map<string, Stored>();
  const opened = new Set<string>();
  const containerOf = (id: string, { limits, record = {} }: OpenOptions): Container => {
    const known = stored.get(id);
    const entry = known ?? { record, createdAtMs: now(), files: new Map() };
    stored.set(id, entry);
    opened.add(id);
    return {
      id,
      isNew: known === undefined,
      limits: { ...defaultLimits, ...limits },
      get record() {
        return entry.record;
      },
      setRecord: async (next) => {
        entry.record = next;
      },
      exec: () => Promise.reject(new Error("This tier runs nothing.")),
      read: async function* (path) {
        yield entry.files.get(path) ?? new Uint8Array();
      },
      write: async (path, content) => {
        const bytes = content instanceof Uint8Array ? content : Buffer.concat(await Array.fromAsync(content));
        entry.files.set(path, bytes);
        return { path, bytes: bytes.length, modifiedAtMs: now() };
      },
      list: async () =>
        Array.from(entry.files, ([path, { length: bytes }]) => ({ path, bytes, modifiedAtMs: 0 })),
      remove: async (path) => entry.files.delete(path),
      close: async () => void opened.delete(id),
    };
  };
  return {
    kind: "memory",
    opened,
    check: async () => ({ isAvailable: true, probes: [] }),
    open: async (options) => containerOf(options.id ?? "", options),
    containers: async () =>
      Array.from(stored, ([id, { record, createdAtMs }]) => ({
        id,
        record,
        createdAtMs,
        isOpen: opened.has(id),
      })),
    remove: async (id) => {
      stored.delete(id);
      opened.delete(id);
    },
    close: async () => {},
  };
}
