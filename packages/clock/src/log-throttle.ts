import type { Clock } from "./clock.js";
import type { Logger } from "./logger.js";

const PERIOD_MS = 60_000;
/** Maximum number of topics in memory. */
const MAX_TOPICS = 1_000;

interface Topic {
  loggedMs: number;
  suppressed: number;
}

/**
 * Logs warnings and errors of one topic at most once a minute. Each logged line has the number of suppressed lines
 * before it in the field `repeated`. Suppressed lines are logged at debug level.
 */
export class LogThrottle {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #logger: Logger;
  readonly #topics = new Map<string, Topic>();

  constructor({ clock, logger }: { clock: Pick<Clock, "monotonic">; logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** A logger whose topics are the lines themselves: equal message and fields. */
  get logger(): Logger {
    const throttled =
      (level: "warn" | "error") =>
      (fields: object, message: string): void =>
        this.#log(level, JSON.stringify([message, fields], errorAsMessage), fields, message);
    return {
      debug: (fields, message) => this.#logger.debug(fields, message),
      info: (fields, message) => this.#logger.info(fields, message),
      warn: throttled("warn"),
      error: throttled("error"),
    };
  }

  warn(topic: string, fields: object, message: string): void {
    this.#log("warn", topic, fields, message);
  }

  #log(level: "warn" | "error", topic: string, fields: object, message: string): void {
    const nowMs = this.#clock.monotonic();
    const previous = this.#topics.get(topic);
    if (previous !== undefined && nowMs - previous.loggedMs < PERIOD_MS) {
      previous.suppressed++;
      return this.#logger.debug(fields, message);
    }
    const repeated = previous?.suppressed ?? 0;
    if (this.#topics.size >= MAX_TOPICS) this.#topics.clear();
    this.#topics.set(topic, { loggedMs: nowMs, suppressed: 0 });
    this.#logger[level](repeated > 0 ? { ...fields, repeated } : fields, message);
  }
}

/** Errors have no enumerable members, so JSON would show them as `{}`. */
function errorAsMessage(_key: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}
