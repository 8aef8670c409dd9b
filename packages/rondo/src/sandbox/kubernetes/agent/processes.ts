// The part of the pod's agent that finds and kills the processes a command started.

export const processFunctions: string = `
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
`;
