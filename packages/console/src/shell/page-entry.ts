// What the frame knows of a page.

import type { ComponentType } from "preact";
import type { IconName } from "../ui/icon.tsx";
import type { Place } from "./router.ts";

export interface PageProps {
  readonly place: Place;
}

export interface PageEntry {
  /** The first part of its path. */
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  load(): Promise<ComponentType<PageProps>>;
}
