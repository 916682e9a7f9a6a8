import type { Problem } from "@kubewright/analysis/browser";

import type { FromEngine, TaskName, Tasks, ToEngine } from "./messages.ts";

export interface RunOptions {
  readonly signal?: AbortSignal;
  /** Receives the progress, from 0 to 1. */
  readonly onProgress?: (done: number) => void;
  /** Receives the problems before the simulation starts. */
  readonly onProblems?: (problems: readonly Problem[]) => void;
}

/** An error of the input, with a message for the user. */
export class SimulationError extends Error {
  override readonly name = "PlayError";
}

/** Time after which a worker that does not stop is terminated. The next task creates another worker. */
const STOP_TIMEOUT_MS = 500;

interface Pending extends RunOptions {
  readonly message: ToEngine;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs tasks in a worker. A cancelled task rejects immediately; the worker stops as soon as possible. */
export class Engine {
  readonly #makeWorker: () => Worker;
  readonly #pending = new Map<number, Pending>();
  /** Timers of cancelled tasks that have not stopped yet, by task. */
  readonly #stopping = new Map<number, number>();
  #worker: Worker | undefined;
  #lastId = 0;

  /** @param worker - A worker that was started before and has no listeners yet. */
  constructor(makeWorker: () => Worker, worker?: Worker) {
    this.#makeWorker = makeWorker;
    if (worker !== undefined) this.#worker = this.#onMessage(worker);
  }

  /** @throws PlayError for invalid input; the reason of the signal. */
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

  /** Terminates a worker that does not stop, and restarts its other tasks on a new worker. */
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
