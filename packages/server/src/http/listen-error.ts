// Why the server cannot listen, with what to do about it.

export class ListenError extends Error {
  override readonly name = "ListenError";
  /** The system's name of the problem, such as `EADDRINUSE`. */
  readonly code: string;

  constructor(cause: NodeJS.ErrnoException, host: string, port: number) {
    super(messageOf(cause, host, port), { cause });
    this.code = cause.code ?? "unknown";
  }
}

function messageOf({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  switch (code) {
    case "EADDRINUSE":
      return `Another program already listens on port ${port} of ${host}. Stop it, or choose another port (--port ${port === 65_535 ? port - 1 : port + 1}; --port 0 takes any free one).`;
    case "EACCES":
      return `This user may not listen on port ${port} of ${host}. Choose a port above 1023, such as --port 4500.`;
    case "EADDRNOTAVAIL":
      return `This machine does not have the address ${host}. Use one of its own: 127.0.0.1 for this machine alone, 0.0.0.0 for all networks.`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `The host name ${host} cannot be found. Use an address of this machine, such as 127.0.0.1 or 0.0.0.0.`;
    default:
      return `Cannot listen on port ${port} of ${host}: ${message}`;
  }
}
