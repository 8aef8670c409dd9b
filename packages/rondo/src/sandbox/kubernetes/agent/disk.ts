// The part of the pod's agent that measures what is on the disk, and makes room on a full one.

export const diskFunctions: string = `
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
`;
