// The profile of a model, which gets better when its server has told what it is.

import { untilAborted } from "../../async/until-aborted.ts";
import type { Endpoint } from "../endpoint.ts";
import type { HttpSend } from "../http/http.ts";
import type { FamilyProfile } from "../known-profiles.ts";
import type { ModelProfile } from "../profile.ts";
import { familyOf, pickProfile, serverNamed } from "../profiles.ts";
import type { LearnOptions, ModelRequest } from "../provider.ts";
import { type EndpointKnowledge, knowledgeOf } from "./endpoint-knowledge.ts";

export interface LearnedProfileOptions {
  readonly endpoint: Endpoint;
  readonly send: HttpSend;
  readonly model: string;
  /** The kind of server, if the user gave it: it is then not asked for. */
  readonly server?: string | undefined;
  readonly override: Partial<ModelProfile>;
}

export class LearnedProfile {
  readonly #options: LearnedProfileOptions;
  /** Created with the first request: a model that is never asked costs nothing. */
  #known: EndpointKnowledge | undefined;
  readonly #family: FamilyProfile | undefined;
  /** By what is known of the server. */
  #picked:
    | { readonly server: unknown; readonly window: number | undefined; readonly profile: ModelProfile }
    | undefined;

  constructor(options: LearnedProfileOptions) {
    this.#options = options;
    this.#family = familyOf(options.model);
    void this.current; // reports a wrong override at once
  }

  /** The profile by all that is known now. */
  get current(): ModelProfile {
    const { endpoint, model, server, override } = this.#options;
    const learned = this.#known?.identity;
    const contextWindow = this.#known?.windowOf(model);
    const picked = this.#picked;
    if (!picked || picked.server !== learned?.server || picked.window !== contextWindow) {
      const { profile } = pickProfile({
        baseURL: endpoint.label,
        model,
        ...(server !== undefined && { server }),
        learned: { server: learned?.server, evidence: learned?.evidence, contextWindow },
        override,
      });
      this.#picked = { server: learned?.server, window: contextWindow, profile };
      return profile;
    }
    return picked.profile;
  }

  get #knowledge(): EndpointKnowledge {
    this.#known ??= knowledgeOf(this.#options.endpoint, this.#options.send);
    return this.#known;
  }

  /** The profile with what the server tells. Never rejects; when aborted, gives what is known by then. */
  async learn({ window = false, signal }: LearnOptions = {}): Promise<ModelProfile> {
    const { model, server, override } = this.#options;
    const learning: Promise<unknown>[] = [];
    if (server === undefined) learning.push(this.#knowledge.identify());
    if (window && override.contextWindow === undefined)
      learning.push(
        this.#knowledge.learnWindow(model, server === undefined ? undefined : serverNamed(server)?.name),
      );
    if (learning.length === 0) return this.current;
    const all = Promise.all(learning);
    await (signal ? untilAborted(all, signal).catch(() => {}) : all);
    return this.current;
  }

  /** Whether the body of a request depends on which server it is, and that is not known yet. */
  isNeededFor(request: ModelRequest): boolean {
    return this.#options.server === undefined && this.#dependsOnServer(request) && !this.#isIdentified;
  }

  /** Whether an answer can be read only when it is known which server it is, and that is not known yet. */
  get isNeededToRead(): boolean {
    const { server, override } = this.#options;
    if (server !== undefined || override.startsThinking !== undefined) return false;
    return this.#family?.opensThinking === true && !this.#isIdentified;
  }

  get #isIdentified(): boolean {
    return this.#knowledge.isIdentified;
  }

  #dependsOnServer({ output, toolChoice, messages }: ModelRequest): boolean {
    const { override } = this.#options;
    if (output && override.outputMode === undefined) return true;
    const isForced = toolChoice !== undefined && toolChoice !== "auto" && toolChoice !== "none";
    if (isForced && override.honoursToolChoice === undefined) return true;
    return (
      override.sendReasoning === undefined &&
      this.#family?.sendsBack === true &&
      messages.some((message) => message.role === "assistant" && message.reasoning !== undefined)
    );
  }

  /** Takes the header `Server` of a reply, which comes for free. */
  noteHeader(header: string | undefined): void {
    if (this.#options.server === undefined && header !== undefined) this.#knowledge.noteHeader(header);
  }

  noteWindow(tokens: number | undefined): void {
    if (tokens !== undefined) this.#knowledge.noteWindow(this.#options.model, tokens);
  }

  /** For a server that went away. */
  forget(): void {
    this.#known?.forget();
  }
}
