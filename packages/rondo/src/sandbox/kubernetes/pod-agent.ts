// The program that runs in a pod in front of each command, and does the file operations. It is Python, which the image
// must have, and reaches the pod as a variable of its container: exec gets it from the pod's spec, where code in the
// pod cannot change it.
//
// It talks in frames: one byte that says what it is, four bytes of length, the content. From outside come data (d), the
// end of the input (e), a new start of the CPU time (c), and the wish to end (k). Back go output (o), errors (r), how much
// of the input was taken (a), and the result (x). When the connection breaks, it ends what it started.

/** Runs the agent. The job follows as an argument. */
export const agentCommand: readonly string[] = [
  "python3",
  "-I",
  "-S",
  "-c",
  'import os;exec(os.environ["RONDO_AGENT"])',
];

export const agentVariable = "RONDO_AGENT";

export const agentSource = String.raw`
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

def usage():
    size = count = 0
    folders = [WORK, TEMP]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    count += 1
                    if count > job["limits"]["files"] + 1000:
                        return size, count
                    try:
                        info = entry.stat(follow_symlinks=False)
                        size += info.st_blocks * 512
                        if stat.S_ISDIR(info.st_mode):
                            folders.append(entry.path)
                    except OSError:
                        pass
        except OSError:
            pass
    return size, count

def is_over_disk():
    size, count = usage()
    return size > job["limits"]["diskBytes"] or count > job["limits"]["files"]

def entries():
    found, folders = [], [(WORK, 0), (TEMP, 0)]
    while folders and len(found) < 200000:
        folder, depth = folders.pop()
        try:
            with os.scandir(folder) as listed:
                for entry in listed:
                    info = entry.stat(follow_symlinks=False)
                    is_folder = stat.S_ISDIR(info.st_mode)
                    if is_folder and depth >= 60:
                        flatten(entry.path)
                        continue
                    found.append((info.st_ctime_ns, entry.path, info.st_blocks * 512, is_folder))
                    if is_folder:
                        folders.append((entry.path, depth + 1))
        except OSError:
            pass
    return found

def flatten(path):
    # Folders in folders may be too deep for a path: each moves up before it is removed.
    waiting, number = [path], 0
    while waiting:
        folder = waiting.pop()
        try:
            os.chmod(folder, 0o700)
            for name in os.listdir(folder):
                inner = folder + "/" + name
                if os.path.isdir(inner) and not os.path.islink(inner):
                    number += 1
                    moved = "%s/.rondo-old-%d-%d" % (TEMP if folder.startswith(TEMP) else WORK, os.getpid(), number)
                    os.rename(inner, moved)
                    waiting.append(moved)
                else:
                    os.unlink(inner)
            os.rmdir(folder)
        except OSError:
            pass

def trim():
    # What changed last goes first, until a tenth is free: the next process needs room.
    found = sorted(entries(), reverse=True)
    size, count = sum(it[2] for it in found), len(found)
    if size <= job["limits"]["diskBytes"] and count <= job["limits"]["files"]:
        return
    for _, path, own, is_folder in found:
        if size <= job["limits"]["diskBytes"] * 0.9 and count <= job["limits"]["files"] * 0.9:
            return
        try:
            os.rmdir(path) if is_folder else os.unlink(path)
            size -= own
            count -= 1
        except OSError:
            pass

def processes():
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/" + name + "/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            found[int(name)] = fields
        except OSError:
            pass
    return found

def descendants():
    all_of = processes()
    children = {}
    for pid, fields in all_of.items():
        children.setdefault(int(fields[1]), []).append(pid)
    found, rest = {}, list(children.get(os.getpid(), []))
    while rest:
        pid = rest.pop()
        found[pid] = all_of[pid]
        rest.extend(children.get(pid, []))
    return found

def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass

def kill_all():
    end = time.monotonic() + 1
    while True:
        reap()
        left = [pid for pid, fields in descendants().items()]
        if not left:
            return
        if time.monotonic() > end:
            os.kill(-1, signal.SIGKILL)
        for how in (signal.SIGSTOP, signal.SIGKILL):
            for pid in left:
                try:
                    os.kill(pid, how)
                except OSError:
                    pass
        time.sleep(0.002)

def run():
    limits = job["limits"]
    libc = ctypes.CDLL(None)
    libc.prctl(36, 1, 0, 0, 0)
    libc.prctl(4, 0, 0, 0, 0)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    pipes = [os.pipe() for _ in range(3)]
    main = os.fork()
    if main == 0:
        try:
            os.setsid()
            for target, pipe in enumerate(pipes):
                os.dup2(pipe[0 if target == 0 else 1], target)
            os.closerange(3, 64)
            for name in ("SIGPIPE", "SIGXFSZ"):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
            cpu = int(limits["cpuMs"] / 1000) + 2 if limits["isCpuFixed"] else resource.RLIM_INFINITY
            for name, value in (("CORE", 0), ("FSIZE", limits["diskBytes"]), ("NOFILE", 512), ("CPU", cpu)):
                resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))
            os.chdir(job["cwd"])
            program = job["command"][0]
            # Images of Python and Node have them elsewhere than Debian has its own.
            if program.startswith("/usr/bin/") and not os.path.exists(program):
                program = os.path.basename(program)
            os.execvpe(program, job["command"], job["env"])
        except OSError as error:
            os.write(2, ("%s: %s\n" % (job["command"][0], error.strerror)).encode())
            os._exit(127 if error.errno == errno.ENOENT else 126)
        os._exit(126)
    for target, pipe in enumerate(pipes):
        os.close(pipe[0 if target == 0 else 1])
    child_in, outputs = pipes[0][1], {pipes[1][0]: b"o", pipes[2][0]: b"r"}
    for fd in (0, 1, child_in, *outputs):
        os.set_blocking(fd, False)
    received, to_child, to_host = b"", b"", b""
    is_input_over = False
    result = status = reason = None
    cpu_base = cpu_now = 0.0
    next_look = next_disk = 0.0
    deadline = time.monotonic() + limits["timeoutMs"] / 1000 if limits["timeoutMs"] else None
    while True:
        now = time.monotonic()
        if status is None and reason is None:
            if deadline is not None and now > deadline:
                reason = "timeout"
            if now >= next_look:
                next_look = now + 0.05
                spent = os.times()
                cpu_now = spent.children_user + spent.children_system
                threads = memory = 0
                for pid, fields in descendants().items():
                    cpu_now += sum(int(it) for it in fields[11:15]) / TICK
                    threads += int(fields[17])
                    try:
                        with open("/proc/%d/statm" % pid) as file:
                            sizes = file.read().split()
                        memory += (int(sizes[1]) - int(sizes[2])) * 4096
                    except (OSError, IndexError):
                        pass
                if (cpu_now - cpu_base) * 1000 > limits["cpuMs"]:
                    reason = "cpu"
                elif threads > limits["processes"]:
                    reason = "processes" # also if they need too much memory together
                elif memory > limits["memoryBytes"]:
                    reason = "memory"
            if now >= next_disk:
                before = time.monotonic()
                if is_over_disk():
                    reason = "disk"
                next_disk = time.monotonic() + max(0.2, 10 * (time.monotonic() - before))
        if status is None:
            try:
                pid, code, spent = os.wait4(main, os.WNOHANG)
                if pid:
                    status = code
            except ChildProcessError:
                status = 0
        if (status is not None or reason is not None) and result is None:
            result = {"limit": reason} if reason else {"code": os.waitstatus_to_exitcode(status)}
            if status is not None and os.waitstatus_to_exitcode(status) == -signal.SIGXCPU:
                result = {"limit": "cpu"}
            if status is not None and os.waitstatus_to_exitcode(status) == -signal.SIGXFSZ:
                result = {"limit": "disk"}
            kill_all()
            if result.get("code") and is_over_disk():
                result = {"limit": "disk"}
            if result.get("limit") == "disk":
                trim()
        if result is not None and not outputs and not to_host:
            os.set_blocking(1, True)
            finish(**result)
        poll = select.poll()
        poll.register(0, select.POLLIN)
        if to_host:
            poll.register(1, select.POLLOUT)
        if to_child and child_in is not None:
            poll.register(child_in, select.POLLOUT)
        if len(to_host) < 4 * CHUNK:
            for fd in outputs:
                poll.register(fd, select.POLLIN)
        for fd, events in poll.poll(20 if result is None else 5):
            if fd == 0:
                if events & select.POLLIN:
                    try:
                        part = os.read(0, CHUNK)
                    except BlockingIOError:
                        continue
                    received += part
                    if not part:
                        kill_all()
                        os._exit(1)
                elif events & (select.POLLHUP | select.POLLERR):
                    kill_all()
                    os._exit(1)
            elif fd == 1:
                try:
                    to_host = to_host[os.write(1, to_host):]
                except BlockingIOError:
                    pass
                except OSError:
                    kill_all()
                    os._exit(1)
            elif fd == child_in:
                try:
                    taken = os.write(child_in, to_child)
                    to_child = to_child[taken:]
                    to_host += acknowledged(taken)
                except BlockingIOError:
                    pass
                except OSError:
                    to_host += acknowledged(len(to_child))
                    os.close(child_in)
                    child_in, to_child = None, b""
            elif fd in outputs:
                try:
                    part = os.read(fd, CHUNK)
                except BlockingIOError:
                    continue
                if part:
                    to_host += outputs[fd] + struct.pack(">I", len(part)) + part
                else:
                    del outputs[fd]
                    os.close(fd)
        while len(received) >= 5:
            size = struct.unpack(">I", received[1:5])[0]
            if len(received) < 5 + size:
                break
            kind, content, received = received[:1], received[5:5 + size], received[5 + size:]
            if kind == b"d":
                if child_in is not None:
                    to_child += content
                else:
                    to_host += acknowledged(len(content))
            elif kind == b"k":
                reason = reason or "cancelled"
            elif kind == b"e":
                is_input_over = True
            elif kind == b"c":
                cpu_base = cpu_now
        if is_input_over and not to_child and child_in is not None:
            os.close(child_in)
            child_in = None

def parent_of(names, makes=False):
    folder = os.open(WORK, FOLDER)
    for name in names[:-1]:
        if makes:
            try:
                os.mkdir(name, 0o755, dir_fd=folder)
            except FileExistsError:
                pass
        inner = os.open(name, FOLDER, dir_fd=folder)
        os.close(folder)
        folder = inner
    return folder

def frames():
    received = b""
    while True:
        while len(received) < 5 or len(received) < 5 + struct.unpack(">I", received[1:5])[0]:
            part = os.read(0, CHUNK)
            if not part:
                return
            received += part
        size = struct.unpack(">I", received[1:5])[0]
        yield received[:1], received[5:5 + size]
        received = received[5 + size:]

def read_file():
    folder = parent_of(job["names"])
    file = os.open(job["names"][-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        finish(error="irregular")
    while True:
        part = os.read(file, CHUNK)
        if not part:
            finish()
        send(b"o", part)

def write_file():
    name = job["names"][-1]
    folder = parent_of(job["names"], True)
    try:
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            finish(error="folder")
    except FileNotFoundError:
        pass
    used, count = usage()
    room = job["limits"]["diskBytes"] - used
    if count >= job["limits"]["files"]:
        finish(error="disk")
    partial = ".rondo-" + os.urandom(8).hex()
    file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
    error = "broken"
    try:
        for kind, content in frames():
            if kind == b"e":
                os.rename(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
                info = os.fstat(file)
                error = None
                finish(bytes=info.st_size, modifiedAtMs=info.st_mtime_ns / 1e6)
            room -= len(content)
            if room < 0:
                error = "disk"
                break
            send(b"a", struct.pack(">I", len(content)))
            while content:
                content = content[os.write(file, content):]
    finally:
        if error:
            os.unlink(partial, dir_fd=folder)
    finish(error=error)

def list_files():
    found, rest = [], [("", 0)]
    while rest and len(found) < job["limits"]["files"]:
        path, depth = rest.pop()
        try:
            names = (path + "x").split("/")
            folder = parent_of(names)
        except OSError:
            continue
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    info = entry.stat(follow_symlinks=False)
                    entry.name.encode()
                except (OSError, UnicodeError):
                    continue
                if stat.S_ISDIR(info.st_mode) and depth < 60:
                    rest.append((path + entry.name + "/", depth + 1))
                elif stat.S_ISREG(info.st_mode) and len(found) < job["limits"]["files"]:
                    found.append([path + entry.name, info.st_size, info.st_mtime_ns / 1e6])
        os.close(folder)
    listed = json.dumps(found).encode()
    for at in range(0, len(listed), CHUNK):
        send(b"o", listed[at:at + CHUNK])
    finish()

def remove_tree(name, folder, depth=0):
    try:
        os.unlink(name, dir_fd=folder)
        return
    except (IsADirectoryError, PermissionError):
        pass
    inner = os.open(name, FOLDER, dir_fd=folder)
    os.fchmod(inner, 0o700)
    if depth < 60:
        for entry in os.listdir(inner):
            remove_tree(entry, inner, depth + 1)
    os.close(inner)
    os.rmdir(name, dir_fd=folder)

def remove_file():
    try:
        folder = parent_of(job["names"])
        os.stat(job["names"][-1], dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        finish(removed=False)
    remove_tree(job["names"][-1], folder)
    finish(removed=True)

def can_connect(host, port):
    try:
        socket.create_connection((host, port), 2).close()
        return True
    except OSError:
        return False

def probe():
    global socket
    import socket
    targets = [(os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443"))]
    targets += [("169.254.169.254", "80"), ("1.1.1.1", "443")]
    status = {}
    with open("/proc/self/status") as file:
        for line in file:
            name, _, value = line.partition(":")
            status[name] = value.strip()
    def is_writable(path):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
            return True
        except OSError:
            return False
    finish(
        reached=["%s:%s" % it for it in targets if it[0] and can_connect(it[0], int(it[1]))],
        user=os.getuid(), capabilities=status.get("CapEff"), noNewPrivileges=status.get("NoNewPrivs"),
        filter=status.get("Seccomp"), hasToken=os.path.exists("/var/run/secrets/kubernetes.io"),
        writable=[it for it in ("/rondo-probe", "/usr/rondo-probe", "/etc/rondo-probe") if is_writable(it)],
        isWorkWritable=os.access(WORK, os.W_OK) and os.access(TEMP, os.W_OK),
    )

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
