import { PageFrame } from "../ui/page.tsx";

export function ToolsPage() {
  return <PageFrame title="Tools">{null}</PageFrame>;
}
