// Clients that keep a server busy: each starts a run, follows it to its end whatever happens, and starts another.

import { Follower, post } from "./follower.ts";
import { random } from "./random.ts";
import type { Life, ServerProcess } from "./server-process.ts";
import type { Story } from "./story.ts";

export interface ClientsOptions {
  readonly server: ServerProcess;
  readonly seed: number;
  /** How many background runs are kept going. */
  readonly count: number;
  readonly onFrame: () => void;
}

export class Clients {
  /** Background runs that were followed to their end. */
  readonly followed: Follower[] = [];
  /** Streams of runs that end with their connection; some were cut. */
  readonly foreground: Follower[] = [];
  /** Resolves after `stop()`, when the last run has ended. Rejects when something was broken but by a kill. */
  readonly ended: Promise<unknown>;
  readonly #options: ClientsOptions;
  #isStopped = false;
  #storyCount = 0;

  constructor(options: ClientsOptions) {
    this.#options = options;
    const background = Array.from({ length: options.count }, () => this.#followRuns());
    this.ended = Promise.all([...background, this.#watchRuns()]);
    // It is looked at in the end; what goes wrong before that must not end the process.
    this.ended.catch(() => {});
  }

  /** Starts no more runs. */
  stop(): void {
    this.#isStopped = true;
  }

  async #followRuns(): Promise<void> {
    while (!this.#isStopped) {
      const { server, onFrame } = this.#options;
      const follower = new Follower(server, onFrame);
      const id = await this.#begin(await server.serving(), follower);
      // Killed before it was acknowledged: it may be kept or not, and nobody will ask for it.
      if (id === undefined) continue;
      await follower.follow(id);
      this.followed.push(follower);
    }
  }

  async #begin(life: Life, follower: Follower): Promise<string | undefined> {
    const story = this.#newStory();
    const body = { ...requestFor(story), background: true };
    if (story.seed % 3 === 0) {
      await follower.read(life, () => post(life.url, { ...body, stream: true }));
      return follower.id;
    }
    try {
      const answer = await post(life.url, body);
      return ((await answer.json()) as { id: string }).id;
    } catch (error) {
      if (!life.isOver) throw error;
      return undefined;
    }
  }

  async #watchRuns(): Promise<void> {
    while (!this.#isStopped) {
      const life = await this.#options.server.serving();
      const follower = new Follower(this.#options.server);
      const body = { ...requestFor(this.#newStory()), stream: true };
      await follower.read(life, () => post(life.url, body));
      if (follower.id !== undefined) this.foreground.push(follower);
    }
  }

  #newStory(): Story {
    const chance = random(this.#options.seed, ++this.#storyCount);
    return {
      name: `story ${this.#storyCount}`,
      seed: chance.integer(0, 1_000_000),
      steps: chance.integer(1, 4),
      length: chance.integer(20, 120),
      paceMs: 8,
      toolMs: 120,
    };
  }
}

export function requestFor(story: Story): { model: string; input: string } {
  return { model: "story", input: JSON.stringify(story) };
}
