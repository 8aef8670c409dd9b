// The program that runs Python code in a container. It must work with nothing but Python's own library.

/**
 * Its standard input has lines of JSON: first the marker of its messages, then calls, each followed by the bytes of the
 * code, and interrupts. What code prints goes to the standard output and error as it is. Messages of the driver are in
 * between: the marker, a line of JSON, and as many bytes as that says.
 */
export const pythonDriver = String.raw`
import ast, io, json, linecache, os, queue, signal, sys, threading, traceback, warnings

control = os.fdopen(os.dup(0), "rb")
channel = os.dup(1)
error_channel = os.dup(2)
nothing = os.open(os.devnull, os.O_RDONLY)
os.dup2(nothing, 0)
os.close(nothing)
marker = control.readline().strip()
here = (lambda: 0).__code__.co_filename
calls = queue.SimpleQueue()
is_running = False

def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]

def send(kind, payload=b"", fd=channel, **fields):
    header = json.dumps({"type": kind, "bytes": len(payload), **fields}).encode()
    write_all(fd, marker + header + b"\n" + payload)

def end_descendants():
    parents = {}
    for name in os.listdir("/proc"):
        try:
            if name.isdigit():
                with open("/proc/%s/stat" % name) as stat:
                    parents[int(name)] = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            pass
    found = [os.getpid()]
    for parent in found:
        found += [child for child in parents if parents[child] == parent]
    for child in found[1:]:
        try:
            os.kill(child, signal.SIGKILL)
        except OSError:
            pass

def on_interrupt(number, frame):
    if is_running:
        # Before the code handles it: then those of its children would have other parents.
        try:
            end_descendants()
        finally:
            raise KeyboardInterrupt

def listen():
    for line in control:
        message = json.loads(line)
        if message["type"] == "run":
            calls.put((message, control.read(message["bytes"])))
        else:
            os.kill(os.getpid(), signal.SIGINT)
    os._exit(0)

def shortened(text, limit):
    text = text.encode("utf-8", "backslashreplace")
    return text if len(text) <= limit else text[:limit] + b"\n... (shortened)"

def show(value, limits):
    picture = getattr(type(value), "_repr_png_", None)
    if picture is not None:
        data = picture(value)
        if isinstance(data, bytes):
            return send_image(data, limits)
    send("result", shortened(repr(value), limits["maxTextBytes"]))

def send_image(data, limits):
    if len(data) <= limits["maxImageBytes"]:
        send("image", data)
    else:
        print("[an image of %d bytes is larger than the limit of %d]" % (len(data), limits["maxImageBytes"]), file=sys.stderr)

def send_figures(limits):
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    try:
        for number in pyplot.get_fignums()[:limits["maxImages"]]:
            buffer = io.BytesIO()
            pyplot.figure(number).savefig(buffer, format="png")
            send_image(buffer.getvalue(), limits)
    finally:
        pyplot.close("all")

def execute(code, filename, limits):
    tree = ast.parse(code, filename)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    for part, mode in ((tree, "exec"), (last, "eval")):
        if part is None:
            continue
        compiled = compile(part, filename, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        value = eval(compiled, namespace)
        if compiled.co_flags & 0x80:
            value = event_loop().run_until_complete(value)
        if mode == "eval" and value is not None:
            namespace["_"] = value
            show(value, limits)
    send_figures(limits)

def event_loop():
    import asyncio
    global loop
    if loop is None:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
    return loop

def own_frames(error):
    # Code that cannot be compiled has no frames.
    if isinstance(error, SyntaxError) and str(error.filename).startswith("<cell "):
        return None
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == here:
        trace = trace.tb_next
    return trace

def report(error, limits):
    name = type(error).__name__
    try:
        lines = traceback.format_exception(type(error), error, own_frames(error))
        text = "".join(lines)
        message = str(error)
    except BaseException as second:
        text = message = "the error cannot be shown: " + type(second).__name__
    send("error", shortened(text, limits["maxTextBytes"]), name=name[:200], message=message[:2000])

def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass

def run(message, code):
    global is_running
    number, limits = message["call"], message["limits"]
    filename = "<cell %d>" % number
    signal.signal(signal.SIGINT, on_interrupt)
    try:
        try:
            is_running = True
            text = code.decode()
            linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
            execute(text, filename, limits)
        finally:
            is_running = False
    except BaseException as error:
        is_running = False
        flush()
        report(error, limits)
    flush()
    send("end", fd=error_channel, call=number)
    send("end", call=number)

loop = None
namespace = {"__name__": "__main__", "__builtins__": __builtins__}
main_module = type(sys)("__main__")
main_module.__dict__.update(namespace)
namespace = main_module.__dict__
sys.modules["__main__"] = main_module
sys.path.insert(0, "/mnt/data")
sys.argv = [""]
sys.stdout.reconfigure(line_buffering=True)
warnings.filterwarnings("ignore", message=".*(non-GUI backend|non-interactive, and thus cannot be shown).*")
warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork.*")
signal.signal(signal.SIGINT, on_interrupt)
threading.Thread(target=listen, daemon=True).start()
send("ready")
while True:
    try:
        run(*calls.get())
    except KeyboardInterrupt:
        pass
`;
