// `agent/` knows nothing of the loop; here the two come together.

import { Agent } from "../agent/agent.ts";
import { provideThinking } from "../agent/thinking.ts";
import { think } from "./think.ts";

provideThinking(think);

export { Agent };
