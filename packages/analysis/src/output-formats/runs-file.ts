import { stringify } from "csv-stringify/sync";
import type { TimelineGroup, TimelineRow } from "@kubewright/timeline/data";

import type { OutputFile } from "../ports/files.js";
import { lateMs, durationMsOf } from "../text/run-row-text.js";
import type { TimelineListener } from "../timeline/bounded-rows.js";
import { UserError } from "../errors/user-error.js";
import { isoTime } from "../time/iso-time.js";
import { zoneOf } from "../time/zone-of.js";
import { ZonedClock } from "../time/zoned-clock.js";

export type RunsFormat = "csv" | "jsonl";

/** @throws UserError for a file whose name ends in neither `.csv` nor `.jsonl`. */
export function parseRunsFormat(path: string): RunsFormat {
  const format = /\.(csv|jsonl)$/i.exec(path)?.[1]?.toLowerCase();
  if (format === undefined) throw new UserError(`--runs: ${path}: name a file that ends in .csv or .jsonl`);
  return format as RunsFormat;
}

/** The columns of a line, in order. Times are RFC 3339: `slot` in the CronJob's time zone, the others in UTC. */
const COLUMNS = [
  "kind",
  "namespace",
  "name",
  "slot",
  "job",
  "outcome",
  "reason",
  "message",
  "skipped",
  "lateSeconds",
  "durationSeconds",
  "created",
  "started",
  "ended",
  "podsSucceeded",
  "podsFailed",
  "unschedulable",
] as const;

type RunLine = Partial<Record<(typeof COLUMNS)[number], string | number | undefined>>;

/** Writes one line for every run of a timeline that has ended or was skipped. Buffers lines until `flush`. */
export class RunsFile implements TimelineListener {
  readonly #format: RunsFormat;
  readonly #file: Pick<OutputFile, "write">;
  readonly #clocks = new Map<string, ZonedClock>();
  #lines: RunLine[] = [];
  #hasWritten = false;

  constructor(format: RunsFormat, file: Pick<OutputFile, "write">) {
    this.#format = format;
    this.#file = file;
  }

  groupAdded(): void {}

  rowAdded(): void {}

  rowSettled(group: TimelineGroup, row: TimelineRow): void {
    const { kind, namespace, name } = group;
    this.#lines.push({ kind, namespace, name, ...this.#valuesOf(group, row) });
  }

  async flush(): Promise<void> {
    const lines = this.#lines;
    this.#lines = [];
    const isFirst = !this.#hasWritten;
    this.#hasWritten = true;
    if (this.#format === "jsonl") {
      if (lines.length > 0) await this.#file.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    } else if (isFirst || lines.length > 0) {
      // The library puts a ' before a text that a spreadsheet would interpret as a formula.
      await this.#file.write(stringify(lines, { columns: [...COLUMNS], header: isFirst, escape_formulas: true }));
    }
  }

  #valuesOf(group: TimelineGroup, row: TimelineRow): RunLine {
    if (row.type === "skipped") {
      const { slotMs, cause, reason, unlisted = 0 } = row;
      return {
        slot: this.#slot(group, slotMs),
        outcome: "Skipped",
        reason: cause,
        message: reason,
        skipped: 1 + unlisted,
      };
    }
    const { slotMs, reason, message, unschedulable } = row;
    const durationMs = durationMsOf(row);
    return {
      slot: slotMs === undefined ? undefined : this.#slot(group, slotMs),
      job: row.name,
      outcome: row.outcome,
      reason,
      message,
      lateSeconds: lateMs(row) / 1000,
      durationSeconds: durationMs === undefined ? undefined : durationMs / 1000,
      created: isoTime(row.createdMs),
      started: isoTime(row.startMs),
      ended: isoTime(row.endMs),
      podsSucceeded: row.succeeded,
      podsFailed: row.failed,
      unschedulable,
    };
  }

  #slot(group: TimelineGroup, slotMs: number): string {
    const zone = zoneOf(group);
    let clock = this.#clocks.get(zone);
    if (clock === undefined) this.#clocks.set(zone, (clock = new ZonedClock(zone)));
    return clock.rfc3339(slotMs);
  }
}
