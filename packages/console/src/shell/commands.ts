// What can be done from the palette and by a single key. A page registers its actions while it is shown.

import { computed, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { IconName } from "../ui/icon.tsx";

export interface Command {
  /** What it does, as on a button: "Cancel this run". */
  readonly title: string;
  /** Default: an arrow. */
  readonly icon?: IconName;
  /** A key that runs it while nothing is typed into a field, such as "n". Default: there is none. */
  readonly key?: string;
  run(): void;
}

const registered = signal<readonly (readonly Command[])[]>([]);

/** The actions of what is shown, in the order in which they were registered. */
export const commands = computed(() => registered.value.flat());

/** Offers actions in the palette while the component is shown. */
export function useCommands(list: readonly Command[]): void {
  const latest = useRef(list);
  latest.current = list;
  const shape = JSON.stringify(list.map(({ title, icon, key }) => [title, icon, key]));
  useEffect(() => {
    const own = latest.current.map((command, index) => ({
      ...command,
      run: () => latest.current[index]?.run(),
    }));
    registered.value = [...registered.peek(), own];
    return () => {
      registered.value = registered.peek().filter((each) => each !== own);
    };
  }, [shape]);
}
