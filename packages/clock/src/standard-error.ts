import type { Clock } from "./clock.js";
import { formatKlogLine } from "./klog-line.js";
import type { Logger } from "./logger.js";
import { LogThrottle } from "./log-throttle.js";

/**
 * What components report to when their caller does not say where: warnings and errors are written to the process's
 * standard error, as lines of klog; the rest is not. A line that says the same as one before is written once a minute, with
 * the number of those withheld.
 *
 * Upstream: apimachinery util/runtime `HandleError`.
 *
 * @param source - Who reports, where klog names the file.
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
