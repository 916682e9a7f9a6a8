import { errorMessage } from "@kubewright/client";
import { type Clock, formatKlogLine } from "@kubewright/clock";
import { type Logger as PinoLogger, pino } from "pino";

export interface LoggingOptions {
  readonly format: string;
  /** Lines of components' `debug` are verbosity 4, upstream's "debug level"; everything else is always written. */
  readonly verbosity: number;
  readonly clock: Pick<Clock, "now">;
  readonly pid: number;
  /** Takes whole lines. */
  readonly write: (line: string) => void;
}

/** Lines of components' `debug` have this level, upstream's "debug level". */
export const DEBUG_VERBOSITY = 4;
const ERROR_LEVEL = pino.levels.values.error!;

/**
 * A pino logger that writes what operators of kube-controller-manager know: klog's lines, or its JSON, which has no
 * severity: a line with `v` is information, one without is an error.
 *
 * Errors are logged by message, with those of their causes, never with a stack. There is no file and line of code.
 */
export function createLogger({ format, verbosity, clock, pid, write }: LoggingOptions): PinoLogger {
  const json = format === "json";
  // Errors have no `v`, and pino does not expect a level that writes nothing.
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
