// What the audit log says about one run: its calls, and what people decided about them. A call's line is on the disk
// before the tool runs, and the next one before its result counts.

import type { LoopEvent } from "rondo/loop";
import type { Audit } from "../audit/audit-log.ts";
import { type AuditedTool, type AuditFact, fingerprint } from "../audit/fact.ts";
import type { OutputItem } from "../protocol/items.ts";
import { publicApprovalId } from "./approval-id.ts";
import type { Plan } from "./plan.ts";

interface OpenCall {
  readonly number: number;
  readonly startedAtMs: number;
  readonly tool: AuditedTool;
}

type AuditedPlan = Pick<Plan, "id" | "owner" | "offer" | "approved" | "denied">;

export class RunAudit {
  readonly #audit: Audit;
  readonly #plan: AuditedPlan;
  readonly #open = new Map<string, OpenCall>();
  /** Calls that were refused and have yet to be answered. */
  readonly #refused = new Set<string>();

  constructor(audit: Audit, plan: AuditedPlan) {
    this.#audit = audit;
    this.#plan = plan;
  }

  /** Notes what a person decided about the calls that the run begins with. */
  begin(): void {
    const { approved = [], denied = [] } = this.#plan;
    for (const { id, identity } of approved)
      this.#record({ action: "approval.given", approvalId: publicApprovalId(id), tool: identity });
    for (const { id, label, name } of denied)
      this.#record({ action: "approval.denied", ...approvalOf(id, label, name) });
  }

  /** Before anything else comes of the event. Rejects when a tool must not start. */
  accept(event: LoopEvent): Promise<void> | undefined {
    switch (event.type) {
      case "call.rejected":
        this.#refused.add(event.id);
        this.#record({ action: "call.refused", reason: event.reason, ...this.#callOf(event) });
        return undefined;
      case "tool.started":
        this.#start(event);
        return this.#audit.settled();
      case "tool.finished":
        this.#finish(event);
        // It has happened: the run goes on, and stops before the next call.
        return this.#audit.settled()?.catch(() => {});
      default:
        return undefined;
    }
  }

  /** Ends the calls whose results nobody waited for, and notes those in the output that wait for a person. */
  end(output: readonly OutputItem[]): void {
    for (const [callId, call] of this.#open) this.#end(callId, call, { outcome: "aborted" });
    this.#open.clear();
    for (const item of output)
      if (item.type === "mcp_approval_request")
        this.#record({ action: "approval.asked", ...approvalOf(item.id, item.server_label, item.name) });
  }

  #start(event: Extract<LoopEvent, { type: "tool.started" }>): void {
    const { bytes, sha256 } = fingerprint(JSON.stringify(event.input));
    const call = this.#callOf(event);
    const number = this.#record({
      action: "call.started",
      ...call,
      argumentsBytes: bytes,
      argumentsSha256: sha256,
    });
    this.#open.set(event.id, { number, startedAtMs: performance.now(), tool: call.tool });
  }

  #finish(event: Extract<LoopEvent, { type: "tool.finished" }>): void {
    const { id, message, isError } = event;
    const call = this.#open.get(id);
    if (!call) {
      // A call of an earlier start of the run that is not run again has no other line.
      if (!this.#refused.delete(id))
        this.#record({ action: "call.refused", reason: "not_run", ...this.#callOf(event) });
      return;
    }
    this.#open.delete(id);
    const { bytes, sha256 } = fingerprint(message.content);
    const outcome = isError ? "error" : "ok";
    this.#end(id, call, { outcome, resultBytes: bytes, resultSha256: sha256 });
  }

  #end(callId: string, { number, startedAtMs, tool }: OpenCall, fields: Partial<AuditFact>): void {
    const ms = Math.round((performance.now() - startedAtMs) * 10) / 10;
    this.#record({ action: "call.ended", started: number, callId, tool, ...fields, ms });
  }

  #callOf({ id: callId, name }: { readonly id: string; readonly name: string }) {
    const tool = this.#plan.offer.find(name)?.identity ?? { host: "", label: "", name };
    return { callId, tool };
  }

  #record(fact: AuditFact): number {
    const { id: responseId, owner } = this.#plan;
    return this.#audit.record({ ...fact, owner, responseId });
  }
}

/** The host is not shown in items. */
function approvalOf(id: string, label: string, name: string) {
  return { approvalId: publicApprovalId(id), tool: { host: "", label, name } };
}
