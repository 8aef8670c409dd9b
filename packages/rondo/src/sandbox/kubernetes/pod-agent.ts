// The program that runs in a pod in front of each command, and does the file operations. It is Python, which the image
// must have, and reaches the pod as a variable of its container: exec gets it from the pod's spec, where code in the
// pod cannot change it.
//
// It talks in frames: one byte that says what it is, four bytes of length, the content. From outside come data (d), the
// end of the input (e), a new start of the CPU time (c), and the wish to end (k). Back go output (o), errors (r), how much
// of the input was taken (a), and the result (x). When the connection breaks, it ends what it started.
//
// Its parts are in agent/. They are one program with one namespace, so each may call the functions of the others.

import { diskFunctions } from "./agent/disk.ts";
import { fileFunctions } from "./agent/files.ts";
import { probeFunctions } from "./agent/probe.ts";
import { processFunctions } from "./agent/processes.ts";
import { runFunction } from "./agent/run.ts";

/** Runs the agent. The job follows as an argument. */
export const agentCommand: readonly string[] = [
  "python3",
  "-I",
  "-S",
  "-c",
  'import os;exec(os.environ["RONDO_AGENT"])',
];

export const agentVariable = "RONDO_AGENT";

export const agentSource: string = `
import ctypes, errno, json, os, resource, select, signal, stat, struct, sys, time
WORK = "/mnt/data"
TEMP = "/tmp"
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
CHUNK = 65536
TICK = os.sysconf("SC_CLK_TCK")
job = json.loads(sys.argv[1])

def send(kind, content=b""):
    data = kind + struct.pack(">I", len(content)) + content
    while data:
        try:
            data = data[os.write(1, data):]
        except BlockingIOError:
            select.select([], [1], [])

def acknowledged(count):
    return b"a" + struct.pack(">II", 4, count)

def finish(**result):
    send(b"x", json.dumps(result).encode())
    os._exit(0)
${diskFunctions}${processFunctions}${runFunction}${fileFunctions}${probeFunctions}
def sweep():
    try:
        os.kill(-1, signal.SIGKILL)
    except OSError:
        pass
    finish()

def idle():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    while True:
        signal.pause()

try:
    {"run": run, "read": read_file, "write": write_file, "list": list_files, "remove": remove_file, "sweep": sweep, "probe": probe, "idle": idle}[job["do"]]()
except OSError as error:
    finish(error=errno.errorcode.get(error.errno, "EIO"))
`;
