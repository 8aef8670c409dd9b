// The one loop: ask the model, run its tools, ask again. Client, agents and server are views on it.

import { Run } from "../async/run.ts";
import { PulledEvents, passTo, RunLeft } from "../async/telling.ts";
import { checkLimit } from "../error/check.ts";
import type { Message, ToolCall, ToolMessage } from "../model/message.ts";
import { checkOnTrace } from "../trace/run-trace.ts";
import { isAnsweredHere, toEvent, toRawCall } from "./answer.ts";
import { ask } from "./ask.ts";
import { CallRound, type CallToAnswer } from "./call-round.ts";
import type { CallHere } from "./check-call.ts";
import type { LoopEvent, RunReason } from "./events.ts";
import { OfferedTools } from "./offered-tools.ts";
import type { LoopOptions } from "./options.ts";
import { type LoopSetup, RunContext } from "./run-context.ts";
import type { RunProgress } from "./run-progress.ts";
import { checkRunState } from "./state.ts";
import { failure, toToolMessage } from "./tool-result.ts";
import { unansweredCalls } from "./unanswered.ts";

/**
 * Runs the loop from any conversation. If that ends in calls without an answer, they are answered first. With the
 * `state` of an earlier run of the conversation, it continues that run with its limits.
 *
 * Iterate it for the events. Each message that belongs to the conversation comes with an event and through
 * `onMessage`; taken together they keep the conversation valid whatever happens: every call gets its answer. An
 * abort ends the run with `run.finished`; leaving the iteration ends it without; an error of the model or of
 * `decideCall` is thrown.
 */
export function run(messages: readonly Message[], options: LoopOptions): Run<LoopEvent> {
  const setup = checkRun(messages, options);
  const { signal, graceMs } = options;
  return new Run((inner) => new PulledEvents((tell) => new Loop(new RunContext(setup, tell, inner)).work()), {
    signal,
    graceMs,
  });
}

/**
 * The same to its end, with a function that takes each event. The loop goes on at once, or when the promise is resolved
 * that the function gives. What it throws ends the run.
 */
export async function runToEnd(
  messages: readonly Message[],
  options: LoopOptions,
  take: (event: LoopEvent) => Promise<void> | undefined,
): Promise<void> {
  const setup = checkRun(messages, options);
  await passTo(take, (tell, inner) => new Loop(new RunContext(setup, tell, inner)).work(), options);
}

function checkRun(messages: readonly Message[], options: LoopOptions): LoopSetup {
  for (const field of [
    "maxToolIterations",
    "maxToolCalls",
    "maxRepeats",
    "maxResultTokens",
    "maxTools",
  ] as const) {
    const limit = options[field];
    const mayBeZero = field === "maxToolIterations" || field === "maxToolCalls"; // each call is answered
    if (limit !== undefined && limit !== Number.POSITIVE_INFINITY && !(mayBeZero && limit === 0))
      checkLimit(field, limit);
  }
  if (options.state !== undefined) checkRunState(options.state);
  checkOnTrace("onTrace", options.onTrace);
  return { messages, options, tools: new OfferedTools(options.tools ?? [], options.isOffered) };
}

class Loop {
  readonly #run: RunContext;
  readonly #options: LoopOptions;
  readonly #progress: RunProgress;
  readonly #signal: AbortSignal;
  /** Whether the last round left some calls to the client. */
  #leavesCalls = false;

  constructor(run: RunContext) {
    this.#run = run;
    this.#options = run.options;
    this.#progress = run.progress;
    this.#signal = run.signal;
  }

  async work(): Promise<void> {
    const trace = this.#run.ownTrace;
    trace?.start(this.#options.agent?.name);
    try {
      const begun = this.#begin();
      let reason = begun && (await begun);
      while (!reason) {
        if (!this.#signal.aborted) await ask(this.#run);
        reason = this.#run.open.length > 0 || this.#signal.aborted ? await this.#answer() : this.#answered();
      }
      const isLimit = reason === "max_turns" || reason === "max_tool_calls";
      if (isLimit && this.#options.asksForFinalAnswer && !this.#progress.state.isFinalAnswer)
        reason = await this.#askForFinalAnswer();
      // A model that goes on calling does not see the tools any more, which costs its server the cached prompt.
      if (this.#progress.state.isFinalAnswer === true && this.#onlyCalls() && reason !== "aborted") {
        this.#progress.offersTools = false;
        reason = await this.#askForFinalAnswer();
      }
      const { state } = this.#progress;
      trace?.finish(reason, state.usage);
      await this.#run.tell({ type: "run.finished", reason, usage: state.usage, state });
    } catch (error) {
      if (!(error instanceof RunLeft)) trace?.fail(error);
      throw error;
    } finally {
      // Left between an answer and its calls: each of them still gets a result, but for those that stay open.
      for (const call of this.#run.open.filter(isAnsweredHere).map((it) => this.#toAnswer(it)))
        this.#run.commit(
          toToolMessage(
            call,
            (call.outcome ?? failure(call.name, "cancelled")).result,
            this.#options.describeFailure,
          ),
        );
      trace?.finish("aborted", this.#progress.state.usage); // left
    }
  }

  async #askForFinalAnswer(): Promise<RunReason> {
    this.#progress.isFinalAnswer = true;
    await ask(this.#run);
    await this.#answer();
    return this.#signal.aborted ? "aborted" : this.#answered();
  }

  /** Whether the last answer has calls and no text, and may be asked for again without tools. */
  #onlyCalls(): boolean {
    const answer = this.#run.messages.findLast(({ role }) => role === "assistant");
    return !this.#progress.state.isLastTry && this.#run.lastCalls().length > 0 && !answer?.content;
  }

  /** Does what an earlier run left: answers its open calls. Gives why the run ends, if it is over already. */
  #begin(): Promise<RunReason | undefined> | undefined {
    const open = new Set(unansweredCalls(this.#run.messages));
    return open.size > 0 || this.#options.state ? this.#continue(open) : undefined;
  }

  async #continue(open: ReadonlySet<ToolCall>): Promise<RunReason | undefined> {
    const { state } = this.#options;
    const calls = this.#run.lastCalls();
    const repeated = this.#progress.repeats.check(calls.map(toRawCall));
    if (state) this.#progress.noteEarlierResults(calls, repeated, this.#lastResults());
    const problems = repeated.filter((_, index) => open.has(calls[index] as ToolCall));
    this.#run.open = await this.#run.check([...open].map(toRawCall), problems, { isOpen: true });
    if (open.size > 0) {
      if (!state) this.#run.countRound();
      await this.#run.tellAll(this.#run.open.map(toEvent));
      const reason = await this.#answer();
      const { prompt } = this.#options;
      if (prompt && reason !== "aborted") {
        this.#run.commit(prompt);
        return undefined; // whatever the calls led to, the prompt is to be answered
      }
      return state?.isFinalAnswer && reason !== "aborted" ? this.#answered() : reason;
    }
    if (!state) return undefined;
    if (state.isFinalAnswer) return this.#answered();
    if (state.endsRun) return "client_calls";
    if (state.limit) return state.limit;
    if (state.answers > 0 && this.#run.messages.at(-1)?.role === "assistant") return this.#answered();
    return this.#progress.isStuck ? "max_turns" : undefined;
  }

  /** Why a run ends whose last answer has no calls. */
  #answered(): RunReason {
    return this.#progress.state.finishReason === "length" ? "length" : "completed";
  }

  /** The results after the last answer. Only those: models use the ids of calls again. */
  #lastResults(): ToolMessage[] {
    const { messages } = this.#run;
    const start = messages.findLastIndex(({ role }) => role === "assistant");
    return messages.slice(start).filter((it) => it.role === "tool");
  }

  /** Answers all calls that are answered here. Gives why the run ends, if it does. */
  async #answer(): Promise<RunReason | undefined> {
    const round = this.#startRound();
    try {
      for (let event = round.next(); event; event = round.next()) {
        const taken = event instanceof Promise ? event : this.#run.tell(event);
        if (taken) await taken;
      }
    } finally {
      const ending = round.end();
      if (ending) await ending;
    }
    return this.#signal.aborted ? "aborted" : this.#endRound();
  }

  #startRound(): CallRound {
    const here = this.#run.open.filter(isAnsweredHere);
    this.#leavesCalls = here.length < this.#run.open.length;
    const calls = here.map((call) => this.#toAnswer(call));
    this.#run.open = [];
    let answered = 0;
    const take = ({ message }: { readonly message: ToolMessage }) => {
      this.#progress.noteResult(here[answered++] as CallHere, message);
      this.#run.commit(message);
    };
    const { state } = this.#progress;
    return new CallRound(calls, take, this.#options, state, this.#signal, this.#run.trace);
  }

  /** Why the run ends with a round, if it does. */
  #endRound(): RunReason | undefined | Promise<RunReason> {
    const { limit, endsRun, fruitlessAnswers } = this.#progress.state;
    if (this.#leavesCalls || endsRun) return "client_calls";
    return limit || !this.#progress.isStuck ? limit : this.#endStuck(fruitlessAnswers);
  }

  async #endStuck(answers: number): Promise<RunReason> {
    const message = `In ${answers} answers in a row, no call could be run; the run ends here.`;
    await this.#run.tell(this.#run.traced({ type: "warning", message }));
    return "max_turns";
  }

  /** A call that runs, or its outcome if it does not. */
  #toAnswer(call: CallHere): CallToAnswer {
    const { id, name } = call.raw;
    const { input } = call;
    if (call.decision === "reject")
      return { id, name, wireName: name, input, outcome: failure(name, call.error) };
    const ready = { id, name: call.tool.name, wireName: call.tool.wireName, input };
    if (!this.#progress.state.overLimit?.includes(id)) return { ...ready, tool: call.tool };
    const then = this.#options.asksForFinalAnswer ? ". Answer now, without another call." : "";
    return { ...ready, outcome: failure(ready.name, `limit reached: this call was not run${then}`) };
  }
}
