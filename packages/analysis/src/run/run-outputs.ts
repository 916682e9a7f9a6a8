import { HtmlReport } from "../html-report/html-report.js";
import type { Files, OutputFile } from "../ports/files.js";
import type { Output } from "../ports/output.js";
import { openOutput } from "../ports/open-output.js";
import { CalendarFile } from "../output-formats/calendar-file.js";
import { RunsFile, parseRunsFormat } from "../output-formats/runs-file.js";
import { spooledOutput } from "../ports/spooled-output.js";
import type { TimelineListener } from "../timeline/bounded-rows.js";

/** Files that are written during a run or contain its runs, by flag. */
export interface RunOutputFlags {
  readonly json?: string;
  readonly html?: string;
  readonly runs?: string;
  readonly ics?: string;
}

type RunOutputIo = Pick<Files, "openFile" | "openSpool" | "pageAssets"> & Pick<Output, "stdout">;

interface RunOutputOptions {
  readonly startMs: number;
  /** Whether the output may be discarded at the end. Standard output then gets nothing before the end. */
  readonly mayBeDiscarded: boolean;
}

/** The output files of a run. They replace existing files only when they are closed. */
export class RunOutputs {
  readonly trace: TraceWriter | undefined;
  readonly report: HtmlReport | undefined;
  readonly runs: RunsFile | undefined;
  readonly calendar: CalendarFile | undefined;

  /** Standard output has no previous content to preserve. */
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
  static async open(
    flags: RunOutputFlags,
    io: RunOutputIo,
    { startMs, mayBeDiscarded }: RunOutputOptions,
  ): Promise<RunOutputs> {
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

  /** The outputs that list every run. */
  get listeners(): readonly TimelineListener[] {
    return [this.runs, this.calendar].filter((listener) => listener !== undefined);
  }

  async flush(): Promise<void> {
    await this.trace?.flush();
    await this.runs?.flush();
  }

  /** Leaves existing files unchanged, but writes the trace so far to standard output. */
  async discard(): Promise<void> {
    if (this.#showsTrace) await this.trace?.close();
    else await this.trace?.discard();
    await this.#discardOthers();
  }

  /** Leaves existing files unchanged, and writes nothing to standard output. */
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

  async close(): Promise<void> {
    await this.flush();
    await this.file.close();
  }

  async discard(): Promise<void> {
    this.#lines = [];
    await this.file.discard();
  }
}

function stdoutFile(io: Pick<Output, "stdout">): OutputFile {
  return { write: async (text) => io.stdout.write(text), close: async () => {}, discard: async () => {} };
}
