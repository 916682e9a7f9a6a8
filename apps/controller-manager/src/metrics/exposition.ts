import type { Registry } from "prom-client";

/** The two text formats of Prometheus. */
export type ExpositionFormat = "text" | "openmetrics";

export const EXPOSITION_TYPES: Readonly<Record<ExpositionFormat, string>> = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/**
 * Formats a registry as Go's Prometheus client does: families sorted by name, series by labels, no families without
 * series, numbers in Go's format. prom-client's own text is unsorted and has JavaScript's number format, and its
 * OpenMetrics format renames the registry's counters permanently.
 *
 * @see github.com/prometheus/common expfmt/text_create.go, expfmt/openmetrics_create.go
 */
export async function exposition(registry: Registry, format: ExpositionFormat): Promise<string> {
  const families = (await registry.getMetricsAsJSON()) as unknown as Family[];
  families.sort((a, b) => (a.name < b.name ? -1 : 1));
  let text = "";
  for (const family of families) {
    if (family.values.length > 0) text += familyText(family, format);
  }
  return format === "openmetrics" ? `${text}# EOF\n` : text;
}

/**
 * Selects the format for an `Accept` header. Everything except OpenMetrics, a missing header included, selects the text
 * format.
 */
export function negotiateFormat(accept: string | undefined): ExpositionFormat {
  let best: ExpositionFormat = "text";
  let bestQuality = 0;
  for (const part of (accept ?? "").split(",")) {
    const [type = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const parameter = (name: string): string | undefined =>
      parameters.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
    const isOpenMetrics =
      type === "application/openmetrics-text" && ["0.0.1", "1.0.0"].includes(parameter("version") ?? "1.0.0");
    if (!isOpenMetrics && !["text/plain", "text/*", "*/*"].includes(type)) continue;
    const quality = Number(parameter("q") ?? 1);
    if (!(quality > bestQuality)) continue;
    best = isOpenMetrics ? "openmetrics" : "text";
    bestQuality = quality;
  }
  return best;
}

/** prom-client's own types are incomplete. */
interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram" | "summary";
  readonly values: readonly Sample[];
}

interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
}

function familyText({ name, help, type, values }: Family, format: ExpositionFormat): string {
  const open = format === "openmetrics";
  const family = open && type === "counter" ? name.replace(/_total$/, "") : name;
  const escapedHelp = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  let text = `# HELP ${family} ${open ? escapedHelp.replaceAll('"', '\\"') : escapedHelp}\n# TYPE ${family} ${type}\n`;
  const lines = values.map((sample, position) => ({ key: seriesKey(sample), position, sample }));
  // Buckets, sum and count of one series keep their order.
  lines.sort((a, b) => (a.key === b.key ? a.position - b.position : a.key < b.key ? -1 : 1));
  for (const { key, sample } of lines) {
    const sampleName = sample.metricName ?? (open && type === "counter" ? `${family}_total` : name);
    const labels = sample.labels.le === undefined ? key : join(key, `le="${bound(sample.labels.le, open)}"`);
    text += `${sampleName}${labels === "" ? "" : `{${labels}}`} ${goFloat(sample.value)}\n`;
  }
  return text;
}

function seriesKey({ labels }: Sample): string {
  return Object.keys(labels)
    .filter((label) => label !== "le" && labels[label] !== undefined)
    .sort()
    .map((label) => `${label}="${escapeLabel(String(labels[label]))}"`)
    .join(",");
}

function join(key: string, last: string): string {
  return key === "" ? last : `${key},${last}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** OpenMetrics requires bounds to be floats. */
function bound(le: string | number, open: boolean): string {
  const text = le === "+Inf" ? le : goFloat(Number(le));
  return open && /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** A number in the format of Go's `strconv.FormatFloat(value, 'g', -1, 64)`: `1e-08`, `1.048576e+06`, `+Inf`. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const [digits = "", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  // Go uses an exponent from a million on, and below a ten-thousandth.
  if (value === 0 || (exponent >= -4 && exponent < 6)) return String(value);
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
