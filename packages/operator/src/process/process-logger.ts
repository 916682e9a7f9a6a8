import { errorMessage } from "@kubewright/client";
import { type Logger, destination, pino } from "pino";

import type { LogLevel } from "./process-flags.js";

/** Lines of JSON on standard error, written at once, so that none is lost when the process ends; errors without a stack. */
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
