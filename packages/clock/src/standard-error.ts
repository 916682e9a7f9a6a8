import type { Clock } from "./clock.js";
import { formatKlogLine } from "./klog-line.js";
import type { Logger } from "./logger.js";
import { LogThrottle } from "./log-throttle.js";

/**
 * Returns the default logger of components. Writes warnings and errors to the process's standard error as klog lines;
 * discards the rest. An identical line is written once a minute, with the number of suppressed lines.
 *
 * Upstream: apimachinery util/runtime `HandleError`.
 *
 * @param source - The component's name, in place of klog's file and line.
 */
export function standardErrorLogger(clock: Pick<Clock, "now" | "monotonic">, source: string): Logger {
  const write =
    (level: "warn" | "error") =>
    (fields: object, msg: string): void =>
      console.error(
        formatKlogLine(
          { level, ts: clock.now(), msg, ...fields },
          { pid: globalThis.process?.pid ?? 0, source },
        ).trimEnd(),
      );
  const discard = (): void => undefined;
  const logger = { debug: discard, info: discard, warn: write("warn"), error: write("error") };
  return new LogThrottle({ clock, logger }).logger;
}
