import { PageFrame } from "../ui/page.tsx";

export function ModelsPage() {
  return <PageFrame title="Models">{null}</PageFrame>;
}
