import type { Logger } from "@kubewright/clock";

/** A logger whose lines have more fields: pino's `child`, for any logger. */
export function scopedLogger(logger: Logger, scope: object): Logger {
  return {
    debug: (fields, message) => logger.debug({ ...scope, ...fields }, message),
    info: (fields, message) => logger.info({ ...scope, ...fields }, message),
    warn: (fields, message) => logger.warn({ ...scope, ...fields }, message),
    error: (fields, message) => logger.error({ ...scope, ...fields }, message),
  };
}
