import { formatDuration } from "../time/duration.js";
import { type Style, printable } from "../text/style.js";
import type { ScenarioEventRecord } from "../run/trace.js";

/** Breaks text into lines of at most `width` columns. */
export function paragraph(text: string, width: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of printable(text.trim().replace(/\s+/g, " ")).split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}

/** Maximum number of events that are listed. */
const MAX_EVENTS = 50;

/** Returns the scenario's events, one per line: time, kind, message and duration. */
export function eventsText(events: readonly ScenarioEventRecord[], style: Style): string {
  const rows = events.slice(0, MAX_EVENTS).map(({ at, until, kind, message }) => {
    const lasting = until === undefined ? "" : ` for ${formatDuration(Date.parse(until) - Date.parse(at))}`;
    return [`${at.slice(0, 19)}Z`, kind, `${printable(message)}${lasting}`] as const;
  });
  const kindWidth = Math.max(...rows.map(([, kind]) => kind.length));
  const lines = rows.map(([at, kind, message]) => `  ${style.dim(at)}  ${kind.padEnd(kindWidth)}  ${message}`);
  const more = events.length - rows.length;
  if (more > 0) lines.push(`  and ${more} more`);
  return `${style.bold("Events")}\n${lines.join("\n")}`;
}
