// What the audit log says about requests: who made which from where, with which key, and how it ended.

import type { Audit } from "../audit/audit-log.ts";
import type { AuditFact } from "../audit/fact.ts";
import type { PreparedRun } from "../run/prepare.ts";
import type { Exchange } from "./exchange.ts";

/** How many denied requests a second have a line each. Anyone can make them, and must not fill the disk. */
const maxDenials = 50;
const windowMs = 1000;

type Subject = "request" | "message" | "deletion" | "cancellation";

/** A request in the log, from the moment that it is accepted. */
export interface AuditedRequest {
  /** Resolves when its line is on the disk, before which nothing may happen. */
  readonly written: Promise<void> | undefined;
  /** Notes the response that it makes. */
  created(prepared: PreparedRun): void;
  ended(how: Pick<AuditFact, "status" | "error" | "outcome" | "ms" | "responseId" | "model">): void;
}

export class RequestAudit {
  readonly #audit: Audit;
  #denials = 0;
  #windowEndsAtMs = 0;
  #uncounted = 0;

  constructor(audit: Audit) {
    this.#audit = audit;
  }

  /** Records an accepted request. `params` are those of its path; `subject` is that of a WebSocket message. */
  begin(
    exchange: Exchange,
    params: Readonly<Record<string, string>> = {},
    subject: Subject = subjectOf(exchange),
  ): AuditedRequest {
    const audit = this.#audit;
    const who = whoSent(exchange);
    const started = audit.record({ action: `${subject}.started`, ...who, ...whatIsAsked(exchange, params) });
    return {
      written: audit.settled(),
      created: ({ id: responseId, request }) => {
        const { model, background } = request;
        audit.record({ action: "response.created", ...who, responseId, model, background });
      },
      ended: (how) => {
        const { responseId, model } = exchange;
        audit.record({ action: `${subject}.ended`, started, ...who, responseId, model, ...how });
      },
    };
  }

  /** Resolves when all facts so far are on the disk. Rejects with `AuditUnavailable` when requests are refused. */
  settled(): Promise<void> | undefined {
    return this.#audit.settled();
  }

  /** Records a request that was refused before it was looked at. */
  denied(exchange: Exchange, status: number): void {
    const now = performance.now();
    if (now >= this.#windowEndsAtMs) {
      this.#windowEndsAtMs = now + windowMs;
      this.#denials = 0;
    }
    this.#denials += 1;
    if (this.#denials <= maxDenials) {
      const asked = whatIsAsked(exchange, {});
      const { errorCode: error } = exchange;
      this.#audit.record({ action: "request.denied", ...whoSent(exchange), ...asked, status, error });
      return;
    }
    if (this.#uncounted++ > 0) return;
    setTimeout(() => {
      this.#audit.record({ action: "request.denied", count: this.#uncounted });
      this.#uncounted = 0;
    }, windowMs).unref();
  }
}

function whoSent({ incoming, owner, keyId, id }: Exchange) {
  const forwarded = incoming.headers["x-forwarded-for"];
  return {
    owner,
    key: keyId,
    address: incoming.socket.remoteAddress,
    ...(forwarded !== undefined && { forwardedFor: String(forwarded) }),
    requestId: id,
  };
}

function whatIsAsked({ incoming, route }: Exchange, params: Readonly<Record<string, string>>) {
  const ids = Object.values(params);
  return {
    method: incoming.method,
    route,
    ...(ids.length > 0 && { target: ids.join("/") }),
  };
}

function subjectOf({ incoming: { method }, route }: Exchange): Subject {
  if (method === "DELETE") return "deletion";
  return route.endsWith("/cancel") ? "cancellation" : "request";
}
