// The objects of the stand-in API server: versions, selectors, watches, owners. Behaves as a Kubernetes API server does
// for the few kinds that the tier uses.

import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    generation: number;
    creationTimestamp: string;
    deletionTimestamp?: string;
    deletionGracePeriodSeconds?: number;
    generateName?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean }[];
  };
  // biome-ignore-start lint/suspicious/noExplicitAny: objects of any kind.
  spec?: any;
  status?: any;
  preconditions?: any;
  gracePeriodSeconds?: any;
  // biome-ignore-end lint/suspicious/noExplicitAny: objects of any kind.
}

/** An object as a client gives it. */
export type GivenObject = Partial<Omit<KubeObject, "metadata">> & {
  metadata?: Partial<KubeObject["metadata"]>;
};

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
}

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubeObject;
  readonly version: number;
  readonly plural: string;
}

/** A reply other than success, as a `Status` object. */
export class KubeStatusError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: number, reason: string, message: string, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  toStatus(): object {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      reason: this.reason,
      code: this.code,
      ...(this.retryAfterSeconds !== undefined && { details: { retryAfterSeconds: this.retryAfterSeconds } }),
    };
  }
}

const keptEvents = 500;

export class KubeStore extends EventEmitter<{ change: [WatchEvent] }> {
  readonly kinds: readonly Kind[];
  readonly #objects = new Map<string, KubeObject>();
  #events: WatchEvent[] = [];
  version = 1000;

  constructor(kinds: readonly Kind[]) {
    super();
    this.kinds = kinds;
    this.setMaxListeners(0);
  }

  list(
    plural: string,
    namespace?: string,
    selectors: { labels?: string; fields?: string } = {},
  ): KubeObject[] {
    return [...this.#objects.entries()]
      .filter(([key]) => key.startsWith(`${plural}/${namespace === undefined ? "" : `${namespace}/`}`))
      .map(([, object]) => object)
      .filter((object) => matches(object, selectors));
  }

  find(plural: string, namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(`${plural}/${namespace}/${name}`);
  }

  get(plural: string, namespace: string, name: string): KubeObject {
    const object = this.find(plural, namespace, name);
    if (!object) throw new KubeStatusError(404, "NotFound", `${plural} "${name}" not found`);
    return object;
  }

  create(kind: Kind, namespace: string, given: GivenObject): KubeObject {
    const metadata = { ...given.metadata } as KubeObject["metadata"];
    const name = metadata.name ?? `${metadata.generateName ?? ""}${randomUUID().slice(0, 5)}`;
    if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name))
      throw new KubeStatusError(422, "Invalid", `metadata.name: Invalid value: "${name}"`);
    for (const [label, value] of Object.entries(metadata.labels ?? {}))
      if (!/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/.test(value))
        throw new KubeStatusError(422, "Invalid", `metadata.labels: Invalid value: "${label}=${value}"`);
    if (JSON.stringify(metadata.annotations ?? {}).length > 262_144)
      throw new KubeStatusError(
        422,
        "Invalid",
        "metadata.annotations: Too long: may not be more than 262144 bytes",
      );
    if (this.find(kind.plural, namespace, name))
      throw new KubeStatusError(409, "AlreadyExists", `${kind.plural} "${name}" already exists`);
    const object: KubeObject = {
      ...structuredClone(given),
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        ...metadata,
        name,
        ...(kind.isNamespaced && { namespace }),
        uid: randomUUID(),
        resourceVersion: "0",
        generation: 1,
        creationTimestamp: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
      },
    };
    return this.#put("ADDED", kind.plural, namespace, object);
  }

  /** Stores a changed object. With the version that it was read at, a change in between is a conflict. */
  update(plural: string, namespace: string, object: KubeObject, readAt?: string): KubeObject {
    const current = this.get(plural, namespace, object.metadata.name);
    if (readAt !== undefined && readAt !== current.metadata.resourceVersion)
      throw new KubeStatusError(
        409,
        "Conflict",
        "the object has been modified; please apply your changes to the latest version",
      );
    return this.#put("MODIFIED", plural, namespace, object);
  }

  remove(plural: string, namespace: string, name: string): void {
    const object = this.find(plural, namespace, name);
    if (!object) return;
    this.#objects.delete(`${plural}/${namespace}/${name}`);
    this.#announce("DELETED", plural, object);
  }

  /** The events after a version, or a 410 if they are no longer kept. */
  eventsAfter(version: number): WatchEvent[] {
    const oldest = this.#events[0]?.version ?? this.version + 1;
    if (version < oldest - 1 && this.#events.length === keptEvents) throw expired();
    return this.#events.filter((event) => event.version > version);
  }

  /** Forgets all events, so that watches from an earlier version get a 410. */
  compact(): void {
    this.#events = [];
    this.version += 1;
  }

  #put(type: WatchEvent["type"], plural: string, namespace: string, object: KubeObject): KubeObject {
    this.#objects.set(`${plural}/${namespace}/${object.metadata.name}`, object);
    return this.#announce(type, plural, object);
  }

  #announce(type: WatchEvent["type"], plural: string, object: KubeObject): KubeObject {
    this.version += 1;
    object.metadata.resourceVersion = String(this.version);
    const event = { type, object: structuredClone(object), version: this.version, plural };
    this.#events = [...this.#events.slice(1 - keptEvents), event];
    this.emit("change", event);
    return object;
  }
}

export function expired(): KubeStatusError {
  return new KubeStatusError(410, "Expired", "too old resource version");
}

export function apiVersionOf({ group, version }: Kind): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Whether an object matches selectors of the forms `a=b`, `a!=b`, `a` and their lists. */
export function matches(
  object: KubeObject,
  { labels, fields }: { labels?: string; fields?: string },
): boolean {
  const label = (key: string) => object.metadata.labels?.[key];
  const field = (key: string) =>
    key.split(".").reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], object);
  return isSelected(labels, label) && isSelected(fields, (key) => field(key) as string | undefined);
}

function isSelected(selector: string | undefined, lookUp: (key: string) => string | undefined): boolean {
  return (selector ?? "")
    .split(",")
    .filter((part) => part !== "")
    .every((part) => {
      const [, key = "", operator, value] = /^([^=!]+)(?:(==?|!=)(.*))?$/.exec(part) ?? [];
      if (operator === undefined) return lookUp(key) !== undefined;
      return operator === "!=" ? lookUp(key) !== value : lookUp(key) === value;
    });
}

/** JSON merge patch (RFC 7396). */
export function mergePatch<T>(target: T, patch: unknown): T {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch as T;
  const merged: Record<string, unknown> = typeof target === "object" && target !== null ? { ...target } : {};
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  return merged as T;
}
