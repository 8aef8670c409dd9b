// The part of the pod's agent that runs a command: its input and output as frames, and its limits.

export const runFunction = String.raw`
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
`;
