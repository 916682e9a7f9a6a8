import { HtmlReport } from "./report/html-report.js";
import type { Io, OutputFile } from "./io.js";
import { openOutput } from "./output-file.js";
import { CalendarFile } from "./reports/calendar-file.js";
import { RunsFile, parseRunsFormat } from "./runs-file.js";
import { spooledOutput } from "./spooled-output.js";
import type { TimelineListener } from "./timeline/bounded-rows.js";

/** Files that are written while a run is played, or hold it run by run, by the flags that name them. */
export interface RunOutputFlags {
  readonly json?: string;
  readonly html?: string;
  readonly runs?: string;
  readonly ics?: string;
}

interface RunOutputOptions {
  readonly startMs: number;
  /** Whether what is written may turn out to be void: standard output gets nothing before the end then. */
  readonly mayBeDiscarded: boolean;
}

/** The files of a run. They take the place of what was there before when they are closed, and not before. */
export class RunOutputs {
  readonly trace: TraceWriter | undefined;
  readonly report: HtmlReport | undefined;
  readonly runs: RunsFile | undefined;
  readonly calendar: CalendarFile | undefined;

  /** Standard output has no former content to leave. */
  readonly #showsTrace: boolean;

  private constructor(
    files: Pick<RunOutputs, "trace" | "report" | "runs" | "calendar">,
    { showsTrace }: { readonly showsTrace: boolean },
  ) {
    this.#showsTrace = showsTrace;
    this.trace = files.trace;
    this.report = files.report;
    this.runs = files.runs;
    this.calendar = files.calendar;
  }

  /** @throws UserError when one cannot be opened. */
  static async open(flags: RunOutputFlags, io: Io, { startMs, mayBeDiscarded }: RunOutputOptions): Promise<RunOutputs> {
    const { json, html, runs, ics } = flags;
    const runsFormat = runs === undefined ? undefined : parseRunsFormat(runs);
    const standardOutput = async (): Promise<OutputFile> => (mayBeDiscarded ? spooledOutput(io) : stdoutFile(io));
    const files = {
      trace:
        json === undefined
          ? undefined
          : new TraceWriter(json === "-" ? await standardOutput() : await openOutput("--json", json, io)),
      report: html === undefined ? undefined : await HtmlReport.open(html, io),
      runs:
        runs === undefined || runsFormat === undefined
          ? undefined
          : new RunsFile(runsFormat, await openOutput("--runs", runs, io)),
      calendar: ics === undefined ? undefined : new CalendarFile(await openOutput("--ics", ics, io), startMs),
    };
    return new RunOutputs(files, { showsTrace: json === "-" });
  }

  /** Those that want to hear of every run. */
  get listeners(): readonly TimelineListener[] {
    return [this.runs, this.calendar].filter((listener) => listener !== undefined);
  }

  async flush(): Promise<void> {
    await this.trace?.flush();
    await this.runs?.flush();
  }

  /** Leaves what was there before; but what was played is shown on standard output. */
  async discard(): Promise<void> {
    if (this.#showsTrace) await this.trace?.close();
    else await this.trace?.discard();
    await this.#discardOthers();
  }

  /** Leaves what was there before, and shows nothing. */
  async discardAll(): Promise<void> {
    await this.trace?.discard();
    await this.#discardOthers();
  }

  async #discardOthers(): Promise<void> {
    await this.report?.discard();
    await this.runs?.discard();
    await this.calendar?.discard();
  }
}

/** Collects lines while the simulation runs and writes them between slices of virtual time. */
class TraceWriter {
  #lines: string[] = [];

  constructor(readonly file: OutputFile) {}

  /** @param lines - One or more, each with its end. */
  add(lines: string): void {
    this.#lines.push(lines);
  }

  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const text = this.#lines.join("");
    this.#lines = [];
    await this.file.write(text);
  }

  async close(): Promise<void> {
    await this.flush();
    await this.file.close();
  }

  async discard(): Promise<void> {
    this.#lines = [];
    await this.file.discard();
  }
}

function stdoutFile(io: Io): OutputFile {
  return { write: async (text) => io.stdout.write(text), close: async () => {}, discard: async () => {} };
}
