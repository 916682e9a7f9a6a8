import { Worker } from "node:worker_threads";

import type { PartPlayer, StartPartPlayers } from "./apart/part-players.js";
import type { PartEnd, PartWishes } from "./apart/played-part.js";
import type { PartChunk } from "./apart/part-chunk.js";
import type { Part } from "./apart/split.js";
import { threadFailure } from "./out-of-memory-error.js";

/** What a thread begins with. */
export interface PartStart {
  readonly parts: readonly Part[];
  readonly wishes: PartWishes;
  /** The place of the part that is being played: shared, so that it can be read when the thread is no more. */
  readonly playing: Int32Array;
}

/** What it is asked then, each answered in turn. */
export type PartRequest = { readonly type: "play"; readonly untilMs: number } | { readonly type: "end" };

/** Answers in the order of the requests. */
export type PartAnswer = { readonly answer: unknown } | { readonly error: unknown };

/**
 * A thread's young generation, in MiB. A third of it is what is made between two looks for garbage: of a namespace that is
 * played for hours on end most is dead by then, and more would be resident memory and cold caches.
 */
const YOUNG_MIB = 24;

/** A thread for each share. */
export const nodePartPlayers: StartPartPlayers = (shares, wishes) => {
  const threads = shares.map((parts) => new PartThread(parts, wishes));
  return {
    players: threads,
    close: async () => void (await Promise.all(threads.map((thread) => thread.close()))),
  };
};

class PartThread implements PartPlayer {
  readonly #worker: Worker;
  readonly #waiting: { resolve: (answer: unknown) => void; reject: (error: unknown) => void }[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(parts: readonly Part[], wishes: PartWishes) {
    const playing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const workerData: PartStart = { parts, wishes, playing };
    // It lies beside the built command.
    this.#worker = new Worker(new URL("./node-part-worker.js", import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
    });
    this.#worker.on("message", (answered: PartAnswer) => {
      const asked = this.#waiting.shift();
      if ("error" in answered) asked?.reject(answered.error);
      else asked?.resolve(answered.answer);
    });
    this.#worker.on("error", (error) => {
      const namespace = `namespace ${parts[playing[0]!]!.namespace}`;
      const failure =
        parts.length === 1
          ? threadFailure(error, namespace)
          : threadFailure(
              error,
              `${namespace}, one of ${parts.length} of its thread`,
              "have more --workers hold fewer each",
            );
      this.#fail(failure);
    });
    this.#worker.on("exit", () => this.#fail(new Error("a worker thread ended before its work was done")));
  }

  play(untilMs: number): Promise<readonly PartChunk[]> {
    return this.#ask({ type: "play", untilMs }) as Promise<readonly PartChunk[]>;
  }

  end(): Promise<readonly PartEnd[]> {
    return this.#ask({ type: "end" }) as Promise<readonly PartEnd[]>;
  }

  close(): Promise<unknown> {
    return this.#worker.terminate();
  }

  #ask(request: PartRequest): Promise<unknown> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.push({ resolve, reject });
    this.#worker.postMessage(request, []);
    return promise;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure.error);
  }
}
