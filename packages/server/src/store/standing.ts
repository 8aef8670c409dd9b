// Finds the run that crashes its process. When a process dies, any of its runs may be the cause, so none is blamed: each
// becomes a suspect, and runs alone the next time. If the process dies again, that run is to blame.

export interface Standing {
  /** Starts since it last made progress, without those that ended by a crash of another run. */
  readonly attempts: number;
  /** Processes that died while it was at work, since it last made progress. */
  readonly suspicion: number;
  /** Whether it runs alone, so that it is to blame if its process dies. */
  readonly isApart: boolean;
}

/**
 * What crashed a process: this run, another one, or unknown. `doubtful`: unknown, and foreground runs, which are never
 * kept apart, were at work too.
 */
export type Culprit = "this" | "other" | "unknown" | "doubtful";

/**
 * How many processes may die before a run is blamed in spite of doubts. Without any doubt, a client that crashes the
 * process again and again would make the runs of others fail; without a limit, a run that always crashes would never
 * fail on a server with constant foreground traffic.
 */
const maxDoubts = 5;

export const goodStanding: Standing = { attempts: 0, suspicion: 0, isApart: false };

/** After its process died. */
export function afterCrash({ attempts, suspicion, isApart }: Standing, culprit: Culprit): Standing {
  const isCertain = culprit === "unknown" || (culprit === "doubtful" && suspicion > maxDoubts);
  const isBlamed = culprit === "this" || (isCertain && isApart);
  return {
    attempts: isBlamed ? attempts : Math.max(0, attempts - 1),
    suspicion: suspicion + (culprit === "other" ? 0 : 1),
    isApart: false,
  };
}

/** When it is started: a suspect runs alone. */
export function whenStarted({ attempts, suspicion }: Standing, isSuspect: boolean): Standing {
  return { attempts: attempts + 1, suspicion, isApart: isSuspect };
}

/**
 * When a living process releases it. If it has run alone for long enough without harm, it is no longer a suspect: a busy
 * server may never be idle enough to run it alone again.
 */
export function whenReleased({ attempts, suspicion, isApart }: Standing, forgetsAttempt: boolean): Standing {
  return {
    attempts: forgetsAttempt ? Math.max(0, attempts - 1) : attempts,
    suspicion: isApart ? suspicion : 0,
    isApart: false,
  };
}

/** When others may run beside it: it made progress, or has run alone for long enough. */
export function whenTrusted(standing: Standing, hasProgressed: boolean): Standing {
  return hasProgressed ? goodStanding : { ...standing, isApart: false };
}
