// Gives agents the loop to think with: `agent/` itself does not import it.

import { Agent } from "../agent/agent.ts";
import { provideThinking } from "../agent/thinking.ts";
import { think } from "./think.ts";

provideThinking(think);

export { Agent };
