import ical from "ical-generator";
import { rowTime, type RunRow, type TimelineGroup, type TimelineRow } from "@kubewright/timeline/data";

import { formatDuration } from "../time/duration.js";
import type { OutputFile } from "../ports/files.js";
import { lateText, durationMsOf } from "../text/run-row-text.js";
import { printable } from "../text/style.js";
import type { TimelineListener } from "../timeline/bounded-rows.js";

/** Bound on memory, and more events than a calendar can show. */
const MAX_EVENTS = 50_000;
/** Duration of an event for a run that the end of the window cut off, or that ended as it started. */
const MIN_DURATION_MS = 60_000;

/** Writes the runs of a timeline as the events of a calendar (iCalendar, RFC 5545). */
export class CalendarFile implements TimelineListener {
  readonly #file: Pick<OutputFile, "write">;
  readonly #nowMs: number;
  readonly #calendar = ical({
    name: "Runs of CronJobs and Jobs",
    prodId: { company: "kubewright", product: "kubewright" },
  });
  #events = 0;

  /** @param nowMs - Timestamp of all events: the start of virtual time, so that equal runs give equal files. */
  constructor(file: Pick<OutputFile, "write">, nowMs: number) {
    this.#file = file;
    this.#nowMs = nowMs;
  }

  /** Number of runs beyond the limit. */
  get omitted(): number {
    return Math.max(0, this.#events - MAX_EVENTS);
  }

  groupAdded(): void {}

  rowAdded(): void {}

  rowSettled(group: TimelineGroup, row: TimelineRow): void {
    if (row.type === "skipped" || ++this.#events > MAX_EVENTS) return;
    const start = row.startMs ?? row.createdMs;
    this.#calendar.createEvent({
      id: `${row.uid}@kubewright`,
      stamp: new Date(this.#nowMs),
      start: new Date(start),
      end: new Date(start + Math.max(MIN_DURATION_MS, durationMsOf(row) ?? 0)),
      summary: printable(`${group.namespace}/${group.name}`),
      description: descriptionOf(row),
    });
  }

  async end(): Promise<void> {
    await this.#file.write(`${this.#calendar.toString()}\r\n`);
  }
}

function descriptionOf(row: RunRow): string {
  const durationMs = durationMsOf(row);
  const parts = [
    `${row.name}: ${row.outcome}${row.outcome !== "Failed" || row.reason === undefined ? "" : ` (${row.reason})`}`,
    ...(durationMs === undefined ? [] : [`took ${formatDuration(durationMs)}`]),
    lateText(row),
    row.slotMs === undefined ? "" : `slot ${new Date(rowTime(row)).toISOString()}`,
  ];
  return printable(parts.filter((part) => part !== "").join(", "));
}
