import type { Logger } from "@kubewright/clock";

/** Adds fields to all lines of a logger, as pino's `child` does. */
export function scopedLogger(logger: Logger, scope: object): Logger {
  return {
    debug: (fields, message) => logger.debug({ ...scope, ...fields }, message),
    info: (fields, message) => logger.info({ ...scope, ...fields }, message),
    warn: (fields, message) => logger.warn({ ...scope, ...fields }, message),
    error: (fields, message) => logger.error({ ...scope, ...fields }, message),
  };
}
