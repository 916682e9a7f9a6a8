import { errorMessage } from "@kubewright/client";
import { type Logger, destination, pino } from "pino";

import type { LogLevel } from "./process-flags.js";

/** Writes JSON lines to standard error synchronously, so that none is lost at exit. Errors have no stack trace. */
export function processLogger(name: string, level: LogLevel): Logger {
  return pino(
    {
      level,
      base: { logger: name },
      messageKey: "msg",
      timestamp: () => `,"ts":"${new Date(Date.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorMessage },
    },
    destination({ dest: 2, sync: true }),
  );
}
