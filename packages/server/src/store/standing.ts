// What a store knows of a run that was at work when a process died: how far it is to blame, and whether it may work
// beside others.
//
// Several runs work in one process, and one of them may have ended it. The first time nobody knows which, so none is
// blamed; each becomes a suspect, and is started apart from the others. If the process dies then, it is to blame.

export interface Standing {
  /** How often it was started since it last made progress, without the starts that others have ended. */
  readonly attempts: number;
  /** How many processes have died while it was at work, since it last made progress. */
  readonly suspicion: number;
  /** Whether it works apart from the others, so that it is to blame if its process dies. */
  readonly isApart: boolean;
}

/**
 * Who has ended a process: this run, another one of which that is known, or nobody knows. `doubtful`: nobody knows, and
 * runs of the foreground, which nothing keeps apart from the others, were at work too.
 */
export type Culprit = "this" | "other" | "unknown" | "doubtful";

/**
 * How many processes may die before a run that works apart is blamed in spite of doubts. Some doubt there must be, or
 * a client that sends what ends the process again and again would make others fail; but where there is always
 * something in the foreground, a run that ends the process each time must fail at some time too.
 */
const mostDoubts = 5;

export const goodStanding: Standing = { attempts: 0, suspicion: 0, isApart: false };

/** After a process has died that worked on it. */
export function afterCrash({ attempts, suspicion, isApart }: Standing, culprit: Culprit): Standing {
  const isCertain = culprit === "unknown" || (culprit === "doubtful" && suspicion > mostDoubts);
  const isBlamed = culprit === "this" || (isCertain && isApart);
  return {
    attempts: isBlamed ? attempts : Math.max(0, attempts - 1),
    suspicion: suspicion + (culprit === "other" ? 0 : 1),
    isApart: false,
  };
}

/** When it is started. `isSuspect`: it then works apart. */
export function whenStarted({ attempts, suspicion }: Standing, isSuspect: boolean): Standing {
  return { attempts: attempts + 1, suspicion, isApart: isSuspect };
}

/**
 * When it is given back by a process that lives. One that had its time apart and hurt nobody is a suspect no more: a
 * busy server may never be quiet enough to start it apart again.
 */
export function whenReleased({ attempts, suspicion, isApart }: Standing, forgetsAttempt: boolean): Standing {
  return {
    attempts: forgetsAttempt ? Math.max(0, attempts - 1) : attempts,
    suspicion: isApart ? suspicion : 0,
    isApart: false,
  };
}

/** When others may work beside it: because it got further, or because it has worked apart for long enough. */
export function whenTrusted(standing: Standing, hasProgressed: boolean): Standing {
  return hasProgressed ? goodStanding : { ...standing, isApart: false };
}
