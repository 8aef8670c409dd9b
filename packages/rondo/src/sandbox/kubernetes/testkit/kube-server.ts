// A stand-in for the API server of a cluster, for tests: namespaces, pods that run, network policies, quotas, watches,
// exec over WebSocket, agent-sandbox, and faults. `kubectl` works with it (kube-server.test.ts).

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { agentSandboxKinds, podKind, startAgentSandboxController } from "./kube-agent-sandbox.ts";
import { execOverWebSocket } from "./kube-exec.ts";
import { KubePods } from "./kube-pods.ts";
import {
  apiVersionOf,
  expired,
  type GivenObject,
  type Kind,
  type KubeObject,
  KubeStatusError,
  KubeStore,
  matches,
  mergePatch,
} from "./kube-store.ts";

const coreKind = (kind: string, plural: string, isNamespaced = true): Kind => ({
  group: "",
  version: "v1",
  kind,
  plural,
  isNamespaced,
});
const kinds: readonly Kind[] = [
  coreKind("Namespace", "namespaces", false),
  podKind,
  coreKind("ResourceQuota", "resourcequotas"),
  {
    group: "networking.k8s.io",
    version: "v1",
    kind: "NetworkPolicy",
    plural: "networkpolicies",
    isNamespaced: true,
  },
];

export interface KubeServerOptions {
  /** Whether the CRDs and the controller of agent-sandbox are installed. Default: false. */
  readonly hasAgentSandbox?: boolean;
  /** Default: `v5`. */
  readonly newestExec?: "v4" | "v5";
}

/** What happens to a request instead of its answer. */
export type KubeFault = KubeStatusError | "drop";

interface Target {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

export class KubeServer {
  readonly store: KubeStore;
  readonly pods: KubePods;
  readonly token = "stand-in-token";
  /** Requests so far, as `GET /path`. */
  readonly requests: string[] = [];
  /** Decides on a fault for each request. */
  fault: (request: IncomingMessage) => KubeFault | undefined = () => undefined;
  readonly #server: Server;
  readonly #newestExec: "v4" | "v5";
  readonly #sockets = new Set<Duplex>();

  private constructor({ hasAgentSandbox = false, newestExec = "v5" }: KubeServerOptions) {
    this.#newestExec = newestExec;
    this.store = new KubeStore(hasAgentSandbox ? [...kinds, ...Object.values(agentSandboxKinds)] : kinds);
    this.pods = new KubePods(this.store);
    if (hasAgentSandbox) startAgentSandboxController(this.store);
    this.store.create(kinds[0] as Kind, "", { metadata: { name: "default" } });
    this.#server = createServer((request, reply) => void this.#answer(request, reply));
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  static async start(options: KubeServerOptions = {}): Promise<KubeServer> {
    const server = new KubeServer(options);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A kubeconfig for this server, as JSON, which is YAML. */
  get kubeconfig(): string {
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "stand-in", cluster: { server: this.url, "insecure-skip-tls-verify": true } }],
      users: [{ name: "test", user: { token: this.token } }],
      contexts: [{ name: "stand-in", context: { cluster: "stand-in", user: "test", namespace: "default" } }],
      "current-context": "stand-in",
    });
  }

  /** Breaks all connections, also those of exec and watches. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.dropConnections();
    await this.pods.close();
  }

  async #answer(request: IncomingMessage, reply: ServerResponse): Promise<unknown> {
    try {
      if (this.#fails(request)) return request.socket.destroy();
      const url = new URL(request.url ?? "/", this.url);
      const discovered = request.method === "GET" ? this.#discovery(url.pathname) : undefined;
      if (discovered) return send(reply, 200, discovered);
      const target = this.#target(url.pathname);
      if (request.method === "GET" && ["true", "1"].includes(url.searchParams.get("watch") ?? ""))
        return this.#watch(target, url.searchParams, reply);
      const body = await text(request);
      const { code, object } = this.#act(
        request,
        target,
        url.searchParams,
        body === "" ? {} : JSON.parse(body),
      );
      return send(reply, code, object);
    } catch (error) {
      const status =
        error instanceof KubeStatusError ? error : new KubeStatusError(500, "InternalError", String(error));
      const { retryAfterSeconds } = status;
      return send(
        reply,
        status.code,
        status.toStatus(),
        retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
      );
    }
  }

  /** Whether the connection is to be dropped. Throws for other faults. */
  #fails(request: IncomingMessage): boolean {
    this.requests.push(`${request.method} ${request.url}`);
    const fault = this.fault(request);
    if (fault === "drop") return true;
    if (fault) throw fault;
    const { authorization } = request.headers;
    // kubectl sends no token over http, so only a wrong one is refused.
    if (authorization !== undefined && authorization !== `Bearer ${this.token}`)
      throw new KubeStatusError(401, "Unauthorized", "Unauthorized");
    return false;
  }

  #act(
    request: IncomingMessage,
    target: Target,
    query: URLSearchParams,
    body: GivenObject,
  ): { code: number; object: object } {
    const { kind, namespace, name } = target;
    const { plural } = kind;
    if (name === undefined) {
      if (request.method === "GET") return { code: 200, object: this.#list(target, query) };
      if (request.method !== "POST") throw notAllowed();
      if (kind.isNamespaced) this.store.get("namespaces", "", namespace);
      this.#checkQuota(kind, namespace);
      return { code: 201, object: this.store.create(kind, namespace, body) };
    }
    const current = this.store.get(plural, namespace, name);
    if (request.method === "GET") return { code: 200, object: current };
    if (request.method === "DELETE") return { code: 200, object: this.#delete(target, current, query, body) };
    if (request.method === "PUT")
      return {
        code: 200,
        object: this.store.update(
          plural,
          namespace,
          { ...current, ...body } as KubeObject,
          body.metadata?.resourceVersion,
        ),
      };
    if (request.method !== "PATCH") throw notAllowed();
    if (!/merge-patch/.test(request.headers["content-type"] ?? ""))
      throw new KubeStatusError(415, "UnsupportedMediaType", "only merge patches");
    const patched = mergePatch(current, body);
    return {
      code: 200,
      object: this.store.update(plural, namespace, patched, body.metadata?.resourceVersion),
    };
  }

  #list({ kind, namespace }: Target, query: URLSearchParams): object {
    const selectors = selectorsOf(query);
    const items = this.store.list(
      kind.plural,
      kind.isNamespaced && namespace !== "" ? namespace : undefined,
      selectors,
    );
    return {
      kind: `${kind.kind}List`,
      apiVersion: apiVersionOf(kind),
      metadata: { resourceVersion: String(this.store.version) },
      items,
    };
  }

  #delete(
    { kind, namespace, name = "" }: Target,
    current: KubeObject,
    query: URLSearchParams,
    body: GivenObject,
  ): object {
    const expectedUid = body.preconditions?.uid as string | undefined;
    if (expectedUid !== undefined && expectedUid !== current.metadata.uid)
      throw new KubeStatusError(409, "Conflict", "the UID in the precondition does not match");
    const given = body.gracePeriodSeconds ?? query.get("gracePeriodSeconds") ?? undefined;
    this.#remove(kind.plural, namespace, name, given === undefined ? undefined : Number(given));
    return kind.plural === "pods"
      ? current
      : { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };
  }

  /** Removes an object, and those that it owns. */
  #remove(plural: string, namespace: string, name: string, graceSeconds: number | undefined): void {
    const object = this.store.get(plural, namespace, name);
    const { uid } = object.metadata;
    const grace = graceSeconds ?? Number(object.spec?.terminationGracePeriodSeconds ?? 30);
    if (plural === "pods") void this.pods.end(namespace, name, grace);
    else this.store.remove(plural, namespace, name);
    for (const { plural: owned } of this.store.kinds)
      for (const { metadata } of this.store.list(owned, namespace))
        if (metadata.ownerReferences?.some((it) => it.uid === uid))
          this.#remove(owned, namespace, metadata.name, graceSeconds);
  }

  #checkQuota(kind: Kind, namespace: string): void {
    for (const quota of this.store.list("resourcequotas", namespace)) {
      const hard = quota.spec?.hard?.[kind.plural] as string | undefined;
      if (hard !== undefined && this.store.list(kind.plural, namespace).length >= Number(hard))
        throw new KubeStatusError(
          403,
          "Forbidden",
          `exceeded quota: ${quota.metadata.name}, limited: ${kind.plural}=${hard}`,
        );
    }
  }

  #watch({ kind, namespace, name }: Target, query: URLSearchParams, reply: ServerResponse): unknown {
    const fields = name === undefined ? query.get("fieldSelector") : `metadata.name=${name}`;
    const selectors = { ...selectorsOf(query), ...(fields && { fields }) };
    const isWatched = (object: KubeObject) =>
      (namespace === "" || object.metadata.namespace === namespace) && matches(object, selectors);
    const write = (type: string, object: object) => void reply.write(`${JSON.stringify({ type, object })}\n`);
    const start = query.get("resourceVersion") ?? "";
    reply.writeHead(200, { "content-type": "application/json" });
    const onChange = ({ type, object, plural }: { type: string; object: KubeObject; plural: string }) => {
      if (plural === kind.plural && isWatched(object)) write(type, object);
    };
    try {
      if (start === "" || start === "0")
        for (const object of this.store.list(kind.plural))
          onChange({ type: "ADDED", object, plural: kind.plural });
      else if (Number(start) < this.store.version && this.store.eventsAfter(0).length === 0) throw expired();
      else for (const event of this.store.eventsAfter(Number(start))) onChange(event);
    } catch (error) {
      write("ERROR", (error as KubeStatusError).toStatus());
      return reply.end();
    }
    this.store.on("change", onChange);
    const seconds = query.get("timeoutSeconds");
    const timer = setTimeout(() => reply.end(), Number(seconds ?? 1800) * 1000);
    reply.on("close", () => {
      clearTimeout(timer);
      this.store.off("change", onChange);
    });
    reply.flushHeaders();
    return undefined;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): unknown {
    try {
      if (this.#fails(request)) return socket.destroy();
      const url = new URL(request.url ?? "/", this.url);
      const { namespace, name = "", subresource } = this.#target(url.pathname);
      if (subresource !== "exec" || request.headers.upgrade?.toLowerCase() !== "websocket")
        throw new KubeStatusError(400, "BadRequest", "only exec over WebSocket");
      const command = url.searchParams.getAll("command");
      if (this.store.get("pods", namespace, name).status?.phase !== "Running")
        throw new KubeStatusError(400, "BadRequest", `pod ${name} is not running`);
      return execOverWebSocket({
        request,
        socket,
        head,
        newest: this.#newestExec,
        start: () => this.pods.exec(namespace, name, command),
      });
    } catch (error) {
      const status =
        error instanceof KubeStatusError ? error : new KubeStatusError(500, "InternalError", String(error));
      const body = JSON.stringify(status.toStatus());
      return socket.end(
        `HTTP/1.1 ${status.code} ${status.reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    }
  }

  #target(path: string): Target {
    const match =
      /^\/(?:api\/v1|apis\/(?<group>[^/]+)\/(?<version>[^/]+))(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>[^/]+))?$/.exec(
        path,
      );
    const { group = "", version = "v1", namespace = "", plural, name, subresource } = match?.groups ?? {};
    const kind = this.store.kinds.find(
      (it) => it.group === group && it.version === version && it.plural === plural,
    );
    if (!kind) throw new KubeStatusError(404, "NotFound", "the server could not find the requested resource");
    return { kind, namespace, name, subresource };
  }

  /** What clients ask to learn which kinds there are. */
  #discovery(path: string): object | undefined {
    const groups = [...new Set(this.store.kinds.map(apiVersionOf))];
    if (path === "/version") return { major: "1", minor: "32", gitVersion: "v1.32.0-stand-in" };
    if (path === "/api") return { kind: "APIVersions", versions: ["v1"] };
    if (path === "/apis")
      return {
        kind: "APIGroupList",
        apiVersion: "v1",
        groups: groups
          .filter((it) => it.includes("/"))
          .map((groupVersion) => {
            const [name, version] = groupVersion.split("/");
            return {
              name,
              versions: [{ groupVersion, version }],
              preferredVersion: { groupVersion, version },
            };
          }),
      };
    const groupVersion = path.replace(/^\/apis?\//, "");
    if (!groups.includes(groupVersion) || !/^\/apis?\//.test(path)) return undefined;
    const verbs = ["create", "delete", "get", "list", "patch", "update", "watch"];
    const resources = this.store.kinds
      .filter((it) => apiVersionOf(it) === groupVersion)
      .map(({ kind, plural, isNamespaced }) => ({
        name: plural,
        singularName: kind.toLowerCase(),
        namespaced: isNamespaced,
        kind,
        verbs,
      }));
    return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources };
  }
}

function selectorsOf(query: URLSearchParams): { labels?: string; fields?: string } {
  const labels = query.get("labelSelector");
  const fields = query.get("fieldSelector");
  return { ...(labels && { labels }), ...(fields && { fields }) };
}

function notAllowed(): KubeStatusError {
  return new KubeStatusError(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
  );
}

function send(
  reply: ServerResponse,
  code: number,
  object: object,
  headers: Record<string, string> = {},
): void {
  reply.writeHead(code, { "content-type": "application/json", ...headers }).end(JSON.stringify(object));
}
