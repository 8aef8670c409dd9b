// A program that tries to reach what sandboxed code must not. Outside a sandbox it reaches all of it.

export type ProbeName =
  | "host_file"
  | "file_search"
  | "environment"
  | "process_list"
  | "signal_process"
  | "inherited_descriptors"
  | "tcp4"
  | "tcp6"
  | "file_socket"
  | "abstract_socket"
  | "network_devices"
  | "io_uring"
  | "ptrace"
  | "keyring"
  | "user_namespace"
  | "bpf"
  | "devices"
  | "kernel_settings"
  | "kernel_memory"
  | "kernel_log"
  | "set_uid"
  | "capabilities"
  | "system_files";

/** What each probe tries. */
export const probes: Readonly<Record<ProbeName, string>> = {
  host_file: "a file of the host, by its path",
  file_search: "files of the host and of other containers, by searching",
  environment: "variables of the host, its own or of other processes",
  process_list: "other processes, in /proc",
  signal_process: "a process of the host, by a signal",
  inherited_descriptors: "open files and sockets of the server",
  tcp4: "a server of the host over IPv4",
  tcp6: "a server of the host over IPv6",
  file_socket: "a server on a file socket",
  abstract_socket: "a server on an abstract socket",
  network_devices: "network devices",
  io_uring: "io_uring",
  ptrace: "another process through ptrace",
  keyring: "the keyring of the kernel",
  user_namespace: "a user namespace of its own, with all capabilities in it",
  bpf: "programs in the kernel",
  devices: "devices",
  kernel_settings: "settings of the kernel in /proc/sys and /sys, to write them",
  kernel_memory: "the memory of the kernel, or the addresses in it",
  kernel_log: "the log of the kernel",
  set_uid: "privileges through set-uid programs",
  capabilities: "capabilities",
  system_files: "files of the system, to write them",
};

/**
 * Python. The standard input has JSON with what to look for, so that no command line has it. Prints for each probe
 * whether it reached something, and how it went.
 */
export const probeProgram = String.raw`
import ctypes, json, os, platform, signal, socket, stat, sys, time
target = json.load(sys.stdin)
libc = ctypes.CDLL(None, use_errno=True)
is_x86 = platform.machine() == "x86_64"

def syscall(x86, arm, *args):
    result = libc.syscall(x86 if is_x86 else arm, *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def host_file():
    return target["secret"] in open(target["file"]).read()

def file_search():
    left = 30000
    for root in ["/mnt", "/tmp", "/var", "/home", "/root", "/srv", "/opt", "/run", target["folder"]]:
        for folder, folders, files in os.walk(root):
            left -= len(files) + len(folders)
            if any(target["marker"] in name for name in files + folders):
                return folder
            if left < 0:
                break
    return False

def environment():
    if target["marker"] in str(os.environ):
        return True
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if target["marker"].encode() in open("/proc/%s/environ" % pid, "rb").read():
                return True
        except OSError:
            pass
    return False

def process_list():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if target["marker"].encode() in open("/proc/%s/cmdline" % pid, "rb").read():
                return pid
        except OSError:
            pass
    return False

def signal_process():
    os.kill(target["pid"], 0)
    return True

def inherited_descriptors():
    extra = []
    for fd in range(3, 200):
        try:
            os.fstat(fd)
            extra.append(fd)
        except OSError:
            pass
    return extra

def connects(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(2)
        client.connect(address)
        return client.recv(100) == b"reached"

def tcp4(): return connects(socket.AF_INET, ("127.0.0.1", target["port4"]))
def tcp6(): return connects(socket.AF_INET6, ("::1", target["port6"]))
def file_socket(): return connects(socket.AF_UNIX, target["socket"])
def abstract_socket(): return connects(socket.AF_UNIX, "\0" + target["abstract"])

def network_devices():
    return [name for _, name in socket.if_nameindex() if name != "lo"]

def io_uring():
    os.close(syscall(425, 425, 1, ctypes.create_string_buffer(120)))
    return True

def ptrace():
    child = os.fork()
    if child == 0:
        time.sleep(5)
        os._exit(0)
    try:
        syscall(101, 117, 16, child, 0, 0)
        return True
    finally:
        os.kill(child, signal.SIGKILL)

def keyring():
    return syscall(250, 219, 0, -4, 1) != 0

def user_namespace():
    child = os.fork()
    if child == 0:
        os._exit(0 if libc.unshare(0x10000000 | 0x00020000) == 0 else 1)
    return os.waitpid(child, 0)[1] == 0

def bpf():
    attributes = (ctypes.c_uint32 * 16)(2, 4, 4, 1)
    os.close(syscall(321, 280, 0, ctypes.byref(attributes), ctypes.sizeof(attributes)))
    return True

def devices():
    found = []
    for folder, _, files in os.walk("/dev"):
        for name in files:
            path = os.path.join(folder, name)
            try:
                mode = os.lstat(path).st_mode
            except OSError:
                continue
            if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and name in ("mem", "kmsg", "kvm", "fuse", "port", "vsock")):
                found.append(path)
    return found

def kernel_settings():
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/swappiness", "/proc/sysrq-trigger",
                 "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/uevent_helper"):
        try:
            os.close(os.open(path, os.O_WRONLY))
            return path
        except OSError:
            pass
    return False

def kernel_memory():
    try:
        if len(open("/proc/kcore", "rb").read(16)) == 16:
            return True
    except OSError:
        pass
    return any(int(line.split()[0], 16) != 0 for line in open("/proc/kallsyms"))

def kernel_log():
    return syscall(103, 116, 3, ctypes.create_string_buffer(1024), 1024) >= 0

def set_uid():
    return libc.prctl(39, 0, 0, 0, 0) == 0

def capabilities():
    for line in open("/proc/self/status"):
        if line.startswith(("CapEff", "CapPrm", "CapAmb")) and int(line.split()[1], 16) != 0:
            return line
    return False

def system_files():
    for folder in ("/usr", "/usr/bin", "/etc", "/bin", "/lib", "/"):
        path = os.path.join(folder, "rondo-probe-" + target["marker"])
        try:
            open(path, "w").close()
            os.unlink(path)
            return path
        except OSError:
            pass
    return False

results = {}
for name in target["probes"]:
    try:
        value = globals()[name]()
        results[name] = [bool(value), str(value)[:200]]
    except Exception as error:
        results[name] = [False, type(error).__name__ + ": " + str(error)[:200]]
print(json.dumps(results))
`;
