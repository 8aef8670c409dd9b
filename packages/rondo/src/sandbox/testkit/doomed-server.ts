// A program that is killed: it has a container open in which everything happens that may be left behind.
import { bwrap } from "../bwrap/bwrap.ts";
import { openInterpreter } from "../interpreter/open-interpreter.ts";
import { runsc } from "../runsc/runsc.ts";

const [folder = "", marker = "", kind = "bwrap"] = process.argv.slice(2);
const sandbox = kind === "runsc" ? runsc({ folder }) : bwrap({ folder });
const lasting = await sandbox.open({ id: "lasting" });
await lasting.write("kept", Buffer.from("kept"));
const temporary = await sandbox.open({ isTemporary: true });
await temporary.write("gone", Buffer.from("gone"));
const command = [
  "sh",
  "-c",
  `trap '' TERM INT HUP; (sleep 1000; : ${marker}) & while :; do sleep 1; done`,
] as const;
await lasting.exec({ command });
await temporary.exec({ command });
await openInterpreter(temporary, { language: "javascript" });
console.log("ready");
