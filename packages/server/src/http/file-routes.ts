// The routes of files that clients upload.

import { fileFormSchema, fileListQuerySchema, fileSchema } from "../protocol/file-object.ts";
import { deletedFileSchema, fileListSchema } from "../protocol/replies.ts";
import { readForm } from "./multipart.ts";
import { type FilesApi, type Route, route } from "./route.ts";

export interface FileRoutesOptions {
  files: FilesApi;
  /** The largest file. Default: 100,000,000. */
  fileBytes?: number;
}

const ofFile = {
  params: { id: "file_id" },
  errors: { "404": "There is no such file, or it belongs to another owner." },
};

export function fileRoutes({ files, fileBytes = 100_000_000 }: FileRoutesOptions): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/files",
      operationId: "createFile",
      summary: "Upload a file.",
      form: fileFormSchema,
      reply: fileSchema,
      async handle({ exchange, owner }) {
        const form = await readForm(exchange.incoming, { fileBytes, setting: "limits.fileBytes" });
        try {
          return await files.create(owner, form);
        } finally {
          await form.close();
        }
      },
    }),
    route({
      method: "GET",
      path: "/v1/files",
      operationId: "listFiles",
      summary: "List files.",
      query: fileListQuerySchema,
      reply: fileListSchema,
      handle: ({ owner, query }) => files.list(owner, query),
    }),
    route({
      method: "GET",
      path: "/v1/files/:id",
      ...ofFile,
      operationId: "getFile",
      summary: "Get a file, without its content.",
      reply: fileSchema,
      handle: ({ owner, params }) => files.get(owner, params.id),
    }),
    route({
      method: "GET",
      path: "/v1/files/:id/content",
      ...ofFile,
      operationId: "getFileContent",
      summary: "Get the content of a file.",
      isBinary: true,
      async handle({ exchange, owner, params, isHead }) {
        const { content, bytes, filename } = await files.content(owner, params.id);
        await exchange.binary({ content, bytes, filename, isHead });
      },
    }),
    route({
      method: "DELETE",
      path: "/v1/files/:id",
      ...ofFile,
      operationId: "deleteFile",
      summary: "Delete a file.",
      reply: deletedFileSchema,
      handle: ({ owner, params }) => files.remove(owner, params.id),
    }),
  ];
}
