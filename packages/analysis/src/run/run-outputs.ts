import { CalendarFile } from "../output-formats/calendar-file.js";
import { RunsFile, parseRunsFormat } from "../output-formats/runs-file.js";
import type { OutputFile } from "../ports/files.js";
import type { Outputs } from "../ports/outputs.js";
import type { TimelineListener } from "../timeline/bounded-rows.js";

/** Files that are written during a run or contain its runs, by flag. */
export interface RunOutputFlags {
  readonly json?: string;
  readonly html?: string;
  readonly runs?: string;
  readonly ics?: string;
}

/** The outputs that follow a run. */
export class RunOutputs {
  readonly trace: TraceWriter | undefined;
  readonly runs: RunsFile | undefined;
  readonly calendar: CalendarFile | undefined;
  /** Whether the data of the page is collected. */
  readonly hasPage: boolean;

  /** @param outputs - Opened. */
  constructor(outputs: Outputs, flags: RunOutputFlags, startMs: number) {
    const [trace, runs, calendar] = ["--json", "--runs", "--ics"].map((flag) => outputs.file(flag));
    this.trace = trace && new TraceWriter(trace);
    this.runs = runs && new RunsFile(parseRunsFormat(flags.runs!), runs);
    this.calendar = calendar && new CalendarFile(calendar, startMs);
    this.hasPage = flags.html !== undefined;
  }

  /** The outputs that list every run. */
  get listeners(): readonly TimelineListener[] {
    return [this.runs, this.calendar].filter((listener) => listener !== undefined);
  }

  async flush(): Promise<void> {
    await this.trace?.flush();
    await this.runs?.flush();
  }

  /** Writes the rest. */
  async end(): Promise<void> {
    await this.flush();
    await this.calendar?.end();
  }
}

/** Collects lines while the simulation runs and writes them between slices of virtual time. */
class TraceWriter {
  #lines: string[] = [];

  constructor(readonly file: Pick<OutputFile, "write">) {}

  /** @param lines - One or more lines, each with its line feed. */
  add(lines: string): void {
    this.#lines.push(lines);
  }

  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const text = this.#lines.join("");
    this.#lines = [];
    await this.file.write(text);
  }
}
