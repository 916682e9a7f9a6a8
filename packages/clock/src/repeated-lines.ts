import type { Clock } from "./clock.js";
import type { Logger } from "./logger.js";

const PERIOD_MS = 60_000;
/** Topics remembered at once. */
const MOST_TOPICS = 1_000;

interface Topic {
  saidMs: number;
  withheld: number;
}

/** Warnings and errors of one topic, at most one a minute; each says how many were withheld before it. */
export class RepeatedLines {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #logger: Logger;
  readonly #topics = new Map<string, Topic>();

  constructor({ clock, logger }: { clock: Pick<Clock, "monotonic">; logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** A logger for whom every line that says the same is a topic. */
  get logger(): Logger {
    const say =
      (level: "warn" | "error") =>
      (fields: object, message: string): void =>
        this.#say(level, JSON.stringify([message, fields], readably), fields, message);
    return {
      debug: (fields, message) => this.#logger.debug(fields, message),
      info: (fields, message) => this.#logger.info(fields, message),
      warn: say("warn"),
      error: say("error"),
    };
  }

  warn(topic: string, fields: object, message: string): void {
    this.#say("warn", topic, fields, message);
  }

  #say(level: "warn" | "error", topic: string, fields: object, message: string): void {
    const nowMs = this.#clock.monotonic();
    const known = this.#topics.get(topic);
    if (known !== undefined && nowMs - known.saidMs < PERIOD_MS) {
      known.withheld++;
      return this.#logger.debug(fields, message);
    }
    const repeated = known?.withheld ?? 0;
    if (this.#topics.size >= MOST_TOPICS) this.#topics.clear();
    this.#topics.set(topic, { saidMs: nowMs, withheld: 0 });
    this.#logger[level](repeated > 0 ? { ...fields, repeated } : fields, message);
  }
}

/** An error has no members that JSON would show. */
function readably(_key: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}
