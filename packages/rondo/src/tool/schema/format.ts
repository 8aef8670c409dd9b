// The formats of JSON Schema. Every check takes linear time: no expression can match a text in many ways.

const days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d\d?)$/;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const span = /^P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?!$)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/;
/** A year without months has no days, an hour without minutes no seconds. */
const gap = /Y\d+D|H\d+S/;
const pointer = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** Unknown formats are ignored. */
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map(
  Object.entries({
    date: isDate,
    time: isTime,
    "date-time": (text: string) => {
      const [date = "", time = "", ...rest] = text.split(/[t\s]/i, 3);
      return rest.length === 0 && isDate(date) && isTime(time);
    },
    duration: (text: string) => text.length < 200 && span.test(text) && !gap.test(text),
    email: isEmail,
    hostname: isHostname,
    ipv4: (text: string) => ipv4.test(text),
    ipv6: isIpv6,
    uri: (text: string) => isUri(text) && /^[a-z][a-z0-9+.-]*:/i.test(text),
    "uri-reference": isUri,
    "uri-template": isUriTemplate,
    url: (text: string) => /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text),
    uuid: (text: string) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text),
    regex: isRegex,
    "json-pointer": isPointer,
    "json-pointer-uri-fragment": (text: string) =>
      text.startsWith("#") &&
      hasOnly(text.slice(1), /[^a-z0-9_\-.!$&'()*+,;:=@/~%]/i) &&
      isPointer(text.slice(1)),
    "relative-json-pointer": (text: string) => {
      const rest = /^(?:0|[1-9]\d*)/.exec(text);
      const path = rest ? text.slice(rest[0].length) : "?";
      return path === "#" || isPointer(path);
    },
  }),
);

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = month === 2 && isLeap ? 29 : (days[month - 1] ?? 0);
  return day >= 1 && day <= last;
}

function isTime(text: string): boolean {
  const parts = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text);
  if (!parts) return false;
  const [hour, minute, second, , offsetHour, offsetMinute] = parts
    .slice(1)
    .map((part) => Number(part ?? 0)) as [number, number, number, number, number, number];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  // A leap second is the last one of a day in UTC.
  const offset = (parts[4] === "-" ? 1 : -1) * (offsetHour * 60 + offsetMinute);
  return second < 60 || (hour * 60 + minute + offset + 1440) % 1440 === 1439;
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split(".").every((part) => label.test(part));
}

function isEmail(text: string): boolean {
  if (text.length > 320) return false;
  const [, name = "", host = ""] =
    /^("(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"|[a-z0-9.!#$%&'*+/=?^_`{|}~-]+)@([^@]+)$/i.exec(
      text,
    ) ?? [];
  if (name === "" || name.length > 64) return false;
  if (!name.startsWith('"') && /^\.|\.\.|\.$/.test(name)) return false;
  const [, version, address] = /^\[(ipv6:)?(.*)\]$/i.exec(host) ?? [];
  if (address === undefined) return isHostname(host);
  return version === undefined ? ipv4.test(address) : isIpv6(address);
}

function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split("::");
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1)?.at(-1);
  const endsInIpv4 = last?.includes(".") === true && ipv4.test(last);
  if (endsInIpv4) groups.at(-1)?.splice(-1, 1, "0", "0");
  const all = groups.flat();
  if (!all.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  return halves.length === 1 ? all.length === 8 : halves.length === 2 && all.length <= 7;
}

/** Checks the characters of each part of RFC 3986. */
function isUri(text: string): boolean {
  const parts = /^(?:[^:/?#]+:)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text);
  if (!parts) return false;
  const [, authority, path = "", query = "", fragment = ""] = parts;
  if (!/^(?:[a-z][a-z0-9+.-]*:|[^:]*(?:[/?#]|$))/i.test(text)) return false;
  const character = /[^a-z0-9\-._~!$&'()*+,;=:@/?%]/i;
  if (![path, query, fragment].every((part) => hasOnly(part, character))) return false;
  if (authority === undefined) return true;
  const [, user = "", host = "", port = ""] = /^(?:([^@]*)@)?(\[[^\]]*\]|[^:@[\]]*)(?::(\d*))?$/.exec(
    authority,
  ) ?? ["", "@"];
  if (!hasOnly(user, /[^a-z0-9\-._~!$&'()*+,;=:%]/i) || port === "@") return false;
  if (!host.startsWith("[")) return hasOnly(host, /[^a-z0-9\-._~!$&'()*+,;=%]/i);
  const inner = host.slice(1, -1);
  return isIpv6(inner) || /^v[0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+$/i.test(inner);
}

function isUriTemplate(text: string): boolean {
  const name = /^[a-z0-9_%.]+(?::[1-9]\d{0,3}|\*)?$/i;
  for (const [index, part] of text.split("{").entries()) {
    const [inside = "", outside, ...rest] = index === 0 ? ["", part] : part.split("}", 3);
    if (outside === undefined || rest.length > 0) return false;
    if (!hasOnly(outside, /[^!-~\u0080-\uffff]|["<>\\^`{|}]/)) return false;
    if (
      index > 0 &&
      !inside
        .replace(/^[+#./;?&=,!@|]/, "")
        .split(",")
        .every((each) => name.test(each))
    )
      return false;
  }
  return true;
}

/** No other characters, and each `%` is followed by two digits. */
function hasOnly(text: string, other: RegExp): boolean {
  return !other.test(text) && !/%(?![0-9a-f]{2})/i.test(text);
}

function isPointer(text: string): boolean {
  return text.length < 10_000 && pointer.test(text);
}

function isRegex(text: string): boolean {
  if (text.length > 10_000) return false;
  try {
    RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}
