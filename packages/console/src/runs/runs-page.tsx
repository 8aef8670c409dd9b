import { PageFrame } from "../ui/page.tsx";

export function RunsPage() {
  return <PageFrame title="Runs">{null}</PageFrame>;
}
