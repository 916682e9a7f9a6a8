import { errorMessage } from "@kubewright/client";
import { type Clock, formatKlogLine } from "@kubewright/clock";
import { type Logger as PinoLogger, pino } from "pino";

export interface LoggingOptions {
  readonly format: string;
  /**
   * From verbosity 4 on, upstream's "debug level", `debug` lines of components are written. All other lines are always
   * written.
   */
  readonly verbosity: number;
  readonly clock: Pick<Clock, "now">;
  readonly pid: number;
  /** Receives whole lines. */
  readonly write: (line: string) => void;
}

/** Verbosity of components' `debug` lines, upstream's "debug level". */
export const DEBUG_VERBOSITY = 4;
const ERROR_LEVEL = pino.levels.values.error!;

/**
 * Creates a pino logger with the output format of kube-controller-manager: klog's text lines or its JSON. JSON lines
 * have no severity: a line with `v` is information, one without is an error.
 *
 * Errors are logged as their message and those of their causes, without stack traces. Lines contain no source file and
 * line number.
 */
export function createLogger({ format, verbosity, clock, pid, write }: LoggingOptions): PinoLogger {
  const json = format === "json";
  // Error lines have no `v`, and pino does not expect a level formatter that returns no fields.
  const fields = (line: string): void => write(line.startsWith("{,") ? `{${line.slice(2)}` : line);
  const source = "controller-manager";
  const text = (line: string): void =>
    write(formatKlogLine(JSON.parse(line) as Record<string, unknown>, { pid, source }));
  return pino(
    {
      level: levelOf(verbosity),
      base: null,
      timestamp: () => `,"ts":${clock.now()}`,
      messageKey: "msg",
      formatters: { level: (label, level) => (json ? jsonLevel(label, level) : { level: label }) },
      serializers: { err: errorMessage },
    },
    { write: json ? fields : text },
  );
}

/** pino's level for `-v`. */
export function levelOf(verbosity: number): "debug" | "info" {
  return verbosity >= DEBUG_VERBOSITY ? "debug" : "info";
}

function jsonLevel(label: string, level: number): object {
  if (level >= ERROR_LEVEL) return {};
  return { v: label === "debug" ? DEBUG_VERBOSITY : 0 };
}
