import { errorMessage } from "@kubewright/client";
import type { Logger } from "@kubewright/clock";

import type { RequestRecord } from "./request-record.js";

export interface LogRecord {
  readonly level: keyof Logger;
  readonly fields: object;
  readonly message: string;
}

/** More are not kept. */
const MAX_LOGGED = 10_000;

interface Parts {
  readonly name: string;
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  readonly requests: () => readonly RequestRecord[];
  readonly untilEnded: (what: string, ended: Promise<unknown>) => Promise<void>;
  readonly logged: readonly LogRecord[];
}

/** A controller that the test runs. */
export class RunningController implements AsyncDisposable {
  /** What it is called in requests, events, faults and errors. */
  readonly name: string;
  /** What it has logged, the first 10,000 lines of it. */
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

  /** Whether it may still send something. */
  get alive(): boolean {
    return this.#state === "running" || this.#state === "stopping";
  }

  /** All that it has sent, reads included, oldest first. */
  get requests(): readonly RequestRecord[] {
    return this.#parts.requests();
  }

  /** What it has logged as errors. */
  get errors(): readonly LogRecord[] {
    return this.logged.filter(({ level }) => level === "error");
  }

  /** Tells it to stop, and moves time on until it has. @throws what it fails with. */
  async stop(): Promise<void> {
    if (this.#state === "running") this.#state = "stopping";
    this.#stop.abort(new Error(`${this.name} is stopped by the test`));
    await this.#parts.untilEnded(this.name, this.#ended);
    if (this.#state === "stopping") this.#state = "ended";
    this.check();
  }

  /** Kills it: from now on nothing that it does has any effect, not even what it had begun. */
  async kill(): Promise<void> {
    this.#state = "killed";
    this.#stop.abort(new Error(`${this.name} is killed by the test`));
    await this.#parts.untilEnded(this.name, this.#ended);
  }

  /** @throws what it has failed with, once. */
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

/** A logger that keeps what it is told. */
export function recordingLogger(): { readonly logger: Logger; readonly logged: LogRecord[] } {
  const logged: LogRecord[] = [];
  const at =
    (level: keyof Logger) =>
    (fields: object, message: string): void => {
      if (logged.length < MAX_LOGGED) logged.push({ level, fields, message });
    };
  return { logger: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, logged };
}
