import type { Problem } from "kubewright/browser";

import type { FromEngine, TaskName, Tasks, ToEngine } from "./messages.ts";

export interface RunOptions {
  readonly signal?: AbortSignal;
  /** From 0 to 1. */
  readonly onProgress?: (done: number) => void;
  /** What is wrong, before anything is played. */
  readonly onProblems?: (problems: readonly Problem[]) => void;
}

/** Something that the user can mend, in words for them. */
export class SimulationError extends Error {
  override readonly name = "PlayError";
}

/** A worker that has not stopped by then is ended, and another one made when it is needed. */
const STOP_TIMEOUT_MS = 500;

interface Pending extends RunOptions {
  readonly message: ToEngine;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Plays in a worker. What is cancelled is over at once for whoever asked, and as soon as may be for the processor. */
export class Engine {
  readonly #makeWorker: () => Worker;
  readonly #pending = new Map<number, Pending>();
  /** Cancelled, and not over yet. */
  readonly #stopping = new Map<number, number>();
  #worker: Worker | undefined;
  #lastId = 0;

  /** @param worker - One that has been begun already, and that nobody has heard yet. */
  constructor(makeWorker: () => Worker, worker?: Worker) {
    this.#makeWorker = makeWorker;
    if (worker !== undefined) this.#worker = this.#onMessage(worker);
  }

  /** @throws PlayError, or the reason of the signal */
  run<Name extends TaskName>(
    task: Name,
    request: Tasks[Name]["request"],
    options: RunOptions = {},
  ): Promise<Tasks[Name]["result"]> {
    const { signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const id = ++this.#lastId;
      const message = { id, task, request } as ToEngine;
      this.#pending.set(id, { ...options, message, resolve, reject });
      signal?.addEventListener("abort", () => this.#cancel(id, signal.reason), { once: true });
      this.#post(message);
    });
  }

  #post(message: ToEngine): void {
    this.#worker ??= this.#onMessage(this.#makeWorker());
    this.#worker.postMessage(message);
  }

  #onMessage(worker: Worker): Worker {
    worker.onmessage = ({ data }: MessageEvent<FromEngine>) => this.#handleMessage(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(
        new Error(`the engine did not start or broke down: ${event.message || "its script could not be loaded"}`),
      );
    };
    return worker;
  }

  #handleMessage(message: FromEngine): void {
    const { id } = message;
    const pending = this.#pending.get(id);
    if (message.type === "progress") return pending?.onProgress?.(message.done);
    if (message.type === "problems") return pending?.onProblems?.(message.problems);
    clearTimeout(this.#stopping.get(id));
    this.#stopping.delete(id);
    this.#pending.delete(id);
    if (message.type === "result") pending?.resolve(message.result as never);
    else pending?.reject(message.isUsers ? new SimulationError(message.message) : new Error(message.message));
    return undefined;
  }

  #cancel(id: number, reason: unknown): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    pending.reject(reason);
    this.#post({ id, task: "cancel" });
    this.#stopping.set(
      id,
      window.setTimeout(() => this.#restartStuckWorker(), STOP_TIMEOUT_MS),
    );
  }

  /** What else it was asked begins anew on another worker. */
  #restartStuckWorker(): void {
    this.#terminate();
    for (const { message } of this.#pending.values()) this.#post(message);
  }

  #fail(reason: Error): void {
    this.#terminate();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(reason);
  }

  #terminate(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const timer of this.#stopping.values()) clearTimeout(timer);
    this.#stopping.clear();
  }
}
