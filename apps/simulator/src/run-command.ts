import { parseDuration, formatDuration } from "./duration.js";
import type { Io, OutputFile } from "./io.js";
import { loadManifests } from "./manifests.js";
import { ProgressLine } from "./progress-line.js";
import { simulate } from "./simulation.js";
import { styleFor } from "./style.js";
import { Timeline } from "./timeline.js";
import { legend, summaryText, timelineText } from "./timeline-text.js";
import { traceLine } from "./trace.js";
import { UserError } from "./user-error.js";

export interface RunFlags {
  readonly start: string;
  readonly for: string;
  readonly seed: string;
  readonly json?: string;
}

/** `kubewright run`: plays manifests in virtual time and prints what happened. */
export async function runCommand(paths: readonly string[], flags: RunFlags, io: Io): Promise<void> {
  const startMs = parseStart(flags.start);
  const durationMs = parseDuration(flags.for, "--for");
  const seed = parseSeed(flags.seed);
  const manifests = await loadManifests(paths, io);
  const traceOnly = flags.json === "-";
  const trace =
    flags.json === undefined
      ? undefined
      : new TraceWriter(traceOnly ? stdoutFile(io) : await openTrace(flags.json, io));
  const timeline = new Timeline();
  const progress = new ProgressLine(io.stderr);
  await simulate({
    manifests,
    startMs,
    durationMs,
    seed,
    timeZoneData: io.timeZoneData,
    signal: io.stopped,
    emit: (record) => {
      timeline.add(record);
      trace?.add(traceLine(record));
    },
    onProgress: async (elapsedMs) => {
      progress.show(elapsedMs / durationMs, `${formatDuration(elapsedMs)} of ${formatDuration(durationMs)}`);
      await trace?.flush();
    },
  });
  progress.clear();
  await trace?.close();
  if (traceOnly) return;
  const style = styleFor(io.stdout.hasColours);
  const endMs = startMs + durationMs;
  const title = `${iso(startMs)} → ${iso(endMs)} (${formatDuration(durationMs)} of virtual time, seed ${seed})`;
  io.stdout.write(`${style.bold("kubewright")}  ${title}\n${legend(style)}\n\n`);
  io.stdout.write(`${timelineText(timeline, { startMs, endMs, width: io.stdout.columns || DEFAULT_WIDTH, style })}\n`);
  io.stdout.write(summaryText(timeline, style));
  if (io.stopped.aborted) throw new UserError("stopped before the end: the timeline above is incomplete");
}

const DEFAULT_WIDTH = 120;

/** Collects lines while the simulation runs and writes them between slices of virtual time. */
class TraceWriter {
  #lines: string[] = [];

  constructor(readonly file: OutputFile) {}

  add(line: string): void {
    this.#lines.push(line);
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
}

function stdoutFile(io: Io): OutputFile {
  return { write: async (text) => io.stdout.write(text), close: async () => {} };
}

async function openTrace(path: string, io: Io): Promise<OutputFile> {
  try {
    return await io.openFile(path);
  } catch (error) {
    throw new UserError(`--json: cannot write ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws UserError for anything but an RFC 3339 date or time. */
export function parseStart(text: string): number {
  const valid = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const startMs = valid ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(startMs))
    throw new UserError(`--start: ${JSON.stringify(text)} is not a time; write for example 2026-03-28T22:00:00Z`);
  return startMs;
}

/** @throws UserError for anything but an unsigned 32-bit integer. */
export function parseSeed(text: string): number {
  const seed = Number(text);
  if (!/^\d{1,10}$/.test(text) || seed > 0xffff_ffff)
    throw new UserError(`--seed: ${JSON.stringify(text)} is not a whole number from 0 to 4294967295`);
  return seed;
}

function iso(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
}
