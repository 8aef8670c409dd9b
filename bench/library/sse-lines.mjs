// A minimal parser of server-sent events: whole lines that begin with `data: `.
export function sseParser(onData) {
  let rest = "";
  return (text) => {
    const whole = rest + text;
    let start = 0;
    for (let end = whole.indexOf("\n"); end >= 0; end = whole.indexOf("\n", start)) {
      if (whole.startsWith("data: ", start)) onData(whole.slice(start + 6, end));
      start = end + 1;
    }
    rest = whole.slice(start);
  };
}
