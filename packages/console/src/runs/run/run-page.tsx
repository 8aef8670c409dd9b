// One run.

import type { Place } from "../../shell/router.ts";
import { PageFrame } from "../../ui/page.tsx";

export function RunPage({ id }: { readonly id: string; readonly place: Place }) {
  return <PageFrame title={id}>{null}</PageFrame>;
}
