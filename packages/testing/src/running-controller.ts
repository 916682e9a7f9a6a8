import { errorMessage } from "@kubewright/client";
import type { Logger } from "@kubewright/clock";

import type { RequestRecord } from "./request-record.js";

export interface LogRecord {
  readonly level: keyof Logger;
  readonly fields: object;
  readonly message: string;
}

/** Maximum number of stored log records. */
const MAX_LOGGED = 10_000;

interface Parts {
  readonly name: string;
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  readonly requests: () => readonly RequestRecord[];
  readonly untilEnded: (what: string, ended: Promise<unknown>) => Promise<void>;
  readonly logged: readonly LogRecord[];
}

/** A running controller under test. */
export class RunningController implements AsyncDisposable {
  /** Its name in requests, events, faults and errors. */
  readonly name: string;
  /** Its log records, at most the first 10,000. */
  readonly logged: readonly LogRecord[];
  readonly #parts: Parts;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #state: "running" | "ended" | "stopping" | "killed" = "running";
  #failure: { readonly error: unknown } | undefined;

  constructor(parts: Parts) {
    this.name = parts.name;
    this.logged = parts.logged;
    this.#parts = parts;
    this.#ended = Promise.resolve()
      .then(() => parts.run(this.#stop.signal))
      .then(
        () => {
          if (this.#state === "running") this.#state = "ended";
        },
        (error: unknown) => {
          if (this.#state !== "killed") this.#failure = { error };
          if (this.#state === "running") this.#state = "ended";
        },
      );
  }

  /** Whether the controller may still send requests. */
  get alive(): boolean {
    return this.#state === "running" || this.#state === "stopping";
  }

  /** All its requests, including reads, oldest first. */
  get requests(): readonly RequestRecord[] {
    return this.#parts.requests();
  }

  /** Its log records of level `error`. */
  get errors(): readonly LogRecord[] {
    return this.logged.filter(({ level }) => level === "error");
  }

  /** Stops the controller, and advances the time until it has ended. @throws its error. */
  async stop(): Promise<void> {
    if (this.#state === "running") this.#state = "stopping";
    this.#stop.abort(new Error(`${this.name} is stopped by the test`));
    await this.#parts.untilEnded(this.name, this.#ended);
    if (this.#state === "stopping") this.#state = "ended";
    this.check();
  }

  /** Kills the controller: its requests have no effect any more, including those in flight. */
  async kill(): Promise<void> {
    this.#state = "killed";
    this.#stop.abort(new Error(`${this.name} is killed by the test`));
    await this.#parts.untilEnded(this.name, this.#ended);
  }

  /** @throws its error, once. */
  check(): void {
    const failure = this.#failure;
    if (failure === undefined) return;
    this.#failure = undefined;
    throw new Error(`${this.name} failed: ${errorMessage(failure.error)}`, { cause: failure.error });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.alive) await this.stop();
  }
}

/** Creates a logger that stores its records. */
export function recordingLogger(): { readonly logger: Logger; readonly logged: LogRecord[] } {
  const logged: LogRecord[] = [];
  const at =
    (level: keyof Logger) =>
    (fields: object, message: string): void => {
      if (logged.length < MAX_LOGGED) logged.push({ level, fields, message });
    };
  return { logger: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, logged };
}
