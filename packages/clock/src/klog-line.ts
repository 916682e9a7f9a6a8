const SEVERITY: Readonly<Record<string, string>> = { debug: "I", info: "I", warn: "W", error: "E", fatal: "F" };

/**
 * Formats a log record like klog: `I0102 15:04:05.000000 4711 job-controller] "message" key="value"`. In place of
 * klog's file and line stands the logger's name or, without one, `source`. Times are in the process's time zone, as in
 * klog.
 *
 * Upstream: k8s.io/klog/v2 `header` and `serialize.KVListFormat`.
 *
 * @param record - `level`, `ts` (epoch milliseconds), `msg`, and further fields.
 */
export function formatKlogLine(
  { level, ts, msg, ...fields }: Record<string, unknown>,
  { pid, source }: { readonly pid: number; readonly source: string },
): string {
  const severity = SEVERITY[String(level)] ?? "I";
  const place = typeof fields.logger === "string" ? fields.logger : source;
  const header = `${severity}${timeOf(Number(ts))} ${String(pid).padStart(7)} ${place}]`;
  let line = `${header} ${JSON.stringify(msg ?? "")}`;
  for (const [key, value] of Object.entries(fields)) line += ` ${key}=${formatValue(value)}`;
  return `${line}\n`;
}

function timeOf(epochMs: number): string {
  const time = new Date(epochMs);
  const two = (value: number): string => String(value).padStart(2, "0");
  const micros = String(Math.floor((epochMs % 1000) * 1000)).padStart(6, "0");
  return `${two(time.getMonth() + 1)}${two(time.getDate())} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${micros}`;
}

function formatValue(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return JSON.stringify(value instanceof Error ? value.message : value);
}
