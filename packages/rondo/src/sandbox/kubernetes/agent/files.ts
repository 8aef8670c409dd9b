// The part of the pod's agent that reads, writes, lists and removes files. It follows no links.

export const fileFunctions: string = `
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
`;
