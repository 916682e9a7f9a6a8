import type { ReportData } from "../data/report-data.js";
import { type Transition, ZonedTime, isZone, offsetText } from "./zoned-time.js";

/** A time interval that affects all rows: an outage, or a clock change. */
export interface Band {
  readonly kind: "clock" | "outage";
  readonly fromMs: number;
  /** Equal to `fromMs` for a band without a duration. */
  readonly toMs: number;
  readonly label: string;
  readonly detail: string;
  /** Overlapping bands are placed in different rows, up to {@link BAND_ROWS}. */
  readonly row: number;
}

export const BAND_ROWS = 3;

/** Returns the bands in chronological order. */
export function timeBands(data: ReportData): Band[] {
  const bands: Omit<Band, "row">[] = data.scenarioEvents.map(({ at, until, kind, message }) => {
    const fromMs = Date.parse(at);
    return {
      kind: "outage",
      fromMs,
      toMs: until === undefined ? fromMs : Date.parse(until),
      label: kind,
      detail: message,
    };
  });
  const zones = new Set(data.groups.map(({ cronJob }) => cronJob?.timeZone ?? "UTC"));
  const jumps = new Map<string, { transition: Transition; zones: string[] }>();
  for (const name of [...zones].slice(0, MAX_ZONES)) {
    if (!isZone(name)) continue;
    for (const transition of new ZonedTime(name).transitions(data.startMs, data.endMs)) {
      const key = `${transition.atMs} ${transition.beforeMs} ${transition.afterMs}`;
      const known = jumps.get(key);
      if (known === undefined) jumps.set(key, { transition, zones: [name] });
      else known.zones.push(name);
    }
  }
  for (const { transition, zones } of jumps.values()) bands.push(clockBand(transition, zones.join(", ")));
  return inRows(bands.sort((a, b) => a.fromMs - b.fromMs));
}

function inRows(bands: readonly Omit<Band, "row">[]): Band[] {
  const freeMs = Array.from({ length: BAND_ROWS }, () => -Infinity);
  return bands.map((band) => {
    const first = freeMs.findIndex((ms) => ms <= band.fromMs);
    const row = first < 0 ? BAND_ROWS - 1 : first;
    freeMs[row] = Math.max(freeMs[row]!, band.toMs);
    return { ...band, row };
  });
}

const MAX_ZONES = 20;

function clockBand({ atMs, beforeMs, afterMs }: Transition, zones: string): Omit<Band, "row"> {
  const jumpMs = afterMs - beforeMs;
  const wall = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
  const [from, to] = [wall(atMs + beforeMs), wall(atMs + afterMs)];
  const offsets = `from UTC${offsetText(beforeMs)} to UTC${offsetText(afterMs)}`;
  return jumpMs > 0
    ? {
        kind: "clock",
        fromMs: atMs,
        toMs: atMs,
        label: `DST ${from} → ${to}`,
        detail: `${zones}: clocks go from ${from} to ${to}, ${offsets}. Times between do not exist.`,
      }
    : {
        kind: "clock",
        fromMs: atMs + jumpMs,
        toMs: atMs - jumpMs,
        label: `DST ${to}–${from} twice`,
        detail: `${zones}: clocks go back from ${from} to ${to}, ${offsets}. Times between come twice.`,
      };
}
