// All ways in which real clients are tested.

import { agentsClients } from "./agents-clients.ts";
import { aiSdkClients } from "./ai-sdk-clients.ts";
import type { TestClient } from "./client.ts";
import { langchainClients } from "./langchain-clients.ts";
import { openaiClients } from "./openai-clients.ts";

export const clients: readonly TestClient[] = [
  ...openaiClients,
  ...agentsClients,
  ...aiSdkClients,
  ...langchainClients,
];
