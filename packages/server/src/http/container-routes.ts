// The routes of containers and their files.

import {
  containerFileFormSchema,
  containerFileSchema,
  containerListQuerySchema,
  containerSchema,
  copyFileSchema,
  createContainerSchema,
} from "../protocol/container-object.ts";
import { pageQuerySchema } from "../protocol/query.ts";
import {
  containerFileListSchema,
  containerListSchema,
  deletedContainerFileSchema,
  deletedContainerSchema,
} from "../protocol/replies.ts";
import type { ContainersApi } from "../run/containers.ts";
import { isForm, readForm } from "./multipart.ts";
import { type Route, route } from "./route.ts";

export interface ContainerRoutesOptions {
  containers: Omit<ContainersApi, never>;
  /** The largest file. Default: 100,000,000. */
  fileBytes?: number;
}

const errors = {
  "400": "The request is invalid, or this server runs no code.",
  "403": "The owner may not run code.",
};
const ofContainer = {
  params: { id: "container_id" },
  errors: { ...errors, "404": "There is no such container, it expired, or it belongs to another owner." },
};
const ofFile = {
  params: { id: "container_id", file: "file_id" },
  errors: { ...ofContainer.errors, "409": "It was removed meanwhile." },
};

export function containerRoutes({ containers, fileBytes = 100_000_000 }: ContainerRoutesOptions): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/containers",
      operationId: "createContainer",
      summary: "Create a container.",
      body: createContainerSchema,
      reply: containerSchema,
      errors: { ...errors, "404": "There is no such file." },
      handle: ({ owner, body }) => containers.create(owner, body.value),
    }),
    route({
      method: "GET",
      path: "/v1/containers",
      operationId: "listContainers",
      summary: "List containers.",
      query: containerListQuerySchema,
      reply: containerListSchema,
      errors,
      handle: ({ owner, query }) => containers.list(owner, query),
    }),
    route({
      method: "GET",
      path: "/v1/containers/:id",
      ...ofContainer,
      operationId: "getContainer",
      summary: "Get a container.",
      reply: containerSchema,
      handle: ({ owner, params }) => containers.get(owner, params.id),
    }),
    route({
      method: "DELETE",
      path: "/v1/containers/:id",
      ...ofContainer,
      operationId: "deleteContainer",
      summary: "Delete a container with its files, and end what runs in it.",
      reply: deletedContainerSchema,
      handle: ({ owner, params }) => containers.remove(owner, params.id),
    }),
    route({
      method: "POST",
      path: "/v1/containers/:id/files",
      ...ofContainer,
      operationId: "createContainerFile",
      summary: "Put a file into a container: uploaded, or one of /v1/files.",
      body: copyFileSchema,
      form: containerFileFormSchema,
      reply: containerFileSchema,
      async handle({ exchange, owner, params, body }) {
        if (!isForm(exchange.incoming)) return containers.copy(owner, params.id, body.value);
        const form = await readForm(exchange.incoming, { fileBytes, setting: "limits.fileBytes" });
        try {
          return await containers.upload(owner, params.id, form);
        } finally {
          await form.close();
        }
      },
    }),
    route({
      method: "GET",
      path: "/v1/containers/:id/files",
      ...ofContainer,
      operationId: "listContainerFiles",
      summary: "List the files of a container.",
      query: pageQuerySchema,
      reply: containerFileListSchema,
      handle: ({ owner, params, query }) => containers.listFiles(owner, params.id, query),
    }),
    route({
      method: "GET",
      path: "/v1/containers/:id/files/:file",
      ...ofFile,
      operationId: "getContainerFile",
      summary: "Get a file of a container, without its content.",
      reply: containerFileSchema,
      handle: ({ owner, params }) => containers.getFile(owner, params.id, params.file),
    }),
    route({
      method: "GET",
      path: "/v1/containers/:id/files/:file/content",
      ...ofFile,
      operationId: "getContainerFileContent",
      summary: "Get the content of a file of a container.",
      isBinary: true,
      async handle({ exchange, owner, params, isHead }) {
        await containers.sendFile(owner, params.id, params.file, ({ content, bytes, path }) =>
          exchange.binary({ content, bytes, filename: path.slice(path.lastIndexOf("/") + 1), isHead }),
        );
      },
    }),
    route({
      method: "DELETE",
      path: "/v1/containers/:id/files/:file",
      ...ofFile,
      operationId: "deleteContainerFile",
      summary: "Delete a file of a container.",
      reply: deletedContainerFileSchema,
      handle: ({ owner, params }) => containers.removeFile(owner, params.id, params.file),
    }),
  ];
}
