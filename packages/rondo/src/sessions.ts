// Everything that `rondo/sessions` offers: sessions in a folder. It needs a file system; the root does not.

export {
  defaultSessionFolder,
  type FolderSessionsOptions,
  folderSessions,
} from "./session/folder/folder-sessions.ts";
export { readSessionFile } from "./session/folder/session-file.ts";
