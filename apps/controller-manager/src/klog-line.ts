const SEVERITY: Readonly<Record<string, string>> = { debug: "I", info: "I", warn: "W", error: "E", fatal: "F" };

/**
 * One log record as klog prints it: `I0102 15:04:05.000000    4711 job-controller] "message" key="value"`, with the name of
 * the logger where klog has a file and line. Time is the process's zone, as in klog.
 *
 * Upstream: k8s.io/klog/v2 `header` and `serialize.KVListFormat`.
 */
export function formatKlogLine({ level, ts, msg, ...fields }: Record<string, unknown>, pid: number): string {
  const severity = SEVERITY[String(level)] ?? "I";
  const source = typeof fields.logger === "string" ? fields.logger : "controller-manager";
  const header = `${severity}${timeOf(Number(ts))} ${String(pid).padStart(7)} ${source}]`;
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
  return typeof value === "number" || typeof value === "boolean" ? String(value) : JSON.stringify(value);
}
