// The table of routes: the app and the OpenAPI document are made from it.

import { type ChatRoutesOptions, chatRoutes } from "./chat/chat-routes.ts";
import { type ConsoleRoutesOptions, consoleRoutes } from "./console-routes.ts";
import { type ContainerRoutesOptions, containerRoutes } from "./container-routes.ts";
import { conversationRoutes } from "./conversation-routes.ts";
import { type FileRoutesOptions, fileRoutes } from "./file-routes.ts";
import { openapiDocument } from "./openapi.ts";
import { type ResponseRoutesOptions, responseRoutes } from "./response-routes.ts";
import type { ConversationsApi, Route } from "./route.ts";
import { type ServerRoutesOptions, serverRoutes } from "./server-routes.ts";
import { type SystemRoutesOptions, systemRoutes } from "./system/system-routes.ts";

export interface RoutesOptions
  extends ResponseRoutesOptions,
    ChatRoutesOptions,
    ConsoleRoutesOptions,
    ContainerRoutesOptions,
    FileRoutesOptions,
    ServerRoutesOptions,
    SystemRoutesOptions {
  conversations: ConversationsApi;
  /** The server's version, for the OpenAPI document. */
  version: string;
}

export function allRoutes(options: RoutesOptions): Route[] {
  const routes: Route[] = [
    ...responseRoutes(options),
    ...conversationRoutes(options),
    ...fileRoutes(options),
    ...containerRoutes(options),
    ...chatRoutes(options),
    ...consoleRoutes(options),
    ...systemRoutes(options),
    ...serverRoutes(options, () => openapiDocument(routes, options.version)),
  ];
  return routes;
}
