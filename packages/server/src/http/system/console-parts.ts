// What the routes of the console show of a running server.

import { packageVersion } from "../../config/package-version.ts";
import type { ServerConfig } from "../../config/schema.ts";
import type { Runtime } from "../runtime.ts";
import type { LogTail } from "./log-tail.ts";
import { ModelChecker } from "./model-checker.ts";
import { ModelFacts } from "./model-facts.ts";
import { Samples } from "./samples.ts";
import { System } from "./system.ts";
import type { ConsoleParts } from "./system-routes.ts";
import { Toolbox } from "./toolbox.ts";

export function consoleParts(config: ServerConfig, runtime: Runtime, logTail: LogTail): ConsoleParts {
  const { store, models, mcp, sandbox, logger, metrics, audit, telemetry } = runtime;
  const hasAuth = config.auth !== undefined;
  return {
    system: new System({
      version: packageVersion(),
      hasAuth,
      store: config.store,
      queue: store.queue,
      models,
      sandbox,
      metrics,
      traces: config.traces,
    }),
    toolbox: new Toolbox({
      tools: config.tools,
      offerTools: config.offerTools,
      mcp,
      sandbox,
      hasAuth,
      logger,
      metrics,
      audit,
      telemetry,
    }),
    modelFacts: new ModelFacts(models),
    modelChecker: new ModelChecker({ models, hasAuth }),
    samples: new Samples({ metrics, queue: store.queue }),
    logTail,
    hasAuth,
  };
}
