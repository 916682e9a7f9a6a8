import { Worker } from "node:worker_threads";

import type {
  SegmentRunner,
  StartSegmentRunners,
  SegmentResult,
  SegmentOptions,
  SegmentChunk,
  Segment,
} from "@kubewright/analysis/run";
import { threadFailure } from "./out-of-memory-error.js";

/** The `workerData` of a thread. */
export interface SegmentThreadData {
  readonly segments: readonly Segment[];
  readonly options: SegmentOptions;
  /**
   * Index of the segment that the thread simulates now. Shared memory, so that it can be read after the thread has
   * ended.
   */
  readonly currentIndex: Int32Array;
}

/** A request to a thread. The thread answers requests in order. */
export type SegmentRequest = { readonly type: "run"; readonly untilMs: number } | { readonly type: "end" };

/** The response to a request, in the order of the requests. */
export type SegmentResponse = { readonly result: unknown } | { readonly error: unknown };

/**
 * Size of a thread's young generation, in MiB. A third of it is filled between two garbage collections. In a simulation
 * of several hours most objects are dead by then; a larger size would cost resident memory and cold caches.
 */
const YOUNG_GENERATION_MIB = 24;

/** Starts one thread for each assignment. */
export const nodeSegmentRunners: StartSegmentRunners = (assignments, options) => {
  const threads = assignments.map((segments) => new SegmentThread(segments, options));
  return {
    runners: threads,
    close: async () => void (await Promise.all(threads.map((thread) => thread.close()))),
  };
};

class SegmentThread implements SegmentRunner {
  readonly #worker: Worker;
  readonly #pendingRequests: { resolve: (answer: unknown) => void; reject: (error: unknown) => void }[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(segments: readonly Segment[], options: SegmentOptions) {
    const currentIndex = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const workerData: SegmentThreadData = { segments, options, currentIndex };
    // The worker is beside the built command.
    this.#worker = new Worker(new URL("./segment-worker.js", import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    this.#worker.on("message", (response: SegmentResponse) => {
      const pending = this.#pendingRequests.shift();
      if ("error" in response) pending?.reject(response.error);
      else pending?.resolve(response.result);
    });
    this.#worker.on("error", (error) => {
      const namespace = `namespace ${segments[currentIndex[0]!]!.namespace}`;
      const failure =
        segments.length === 1
          ? threadFailure(error, namespace)
          : threadFailure(
              error,
              `${namespace}, one of ${segments.length} of its thread`,
              "use more --workers, so that each has fewer namespaces",
            );
      this.#fail(failure);
    });
    this.#worker.on("exit", () => this.#fail(new Error("a worker thread ended before its work was done")));
  }

  run(untilMs: number): Promise<readonly SegmentChunk[]> {
    return this.#request({ type: "run", untilMs }) as Promise<readonly SegmentChunk[]>;
  }

  end(): Promise<readonly SegmentResult[]> {
    return this.#request({ type: "end" }) as Promise<readonly SegmentResult[]>;
  }

  close(): Promise<unknown> {
    return this.#worker.terminate();
  }

  #request(request: SegmentRequest): Promise<unknown> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#pendingRequests.push({ resolve, reject });
    this.#worker.postMessage(request, []);
    return promise;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    for (const { reject } of this.#pendingRequests.splice(0)) reject(this.#failure.error);
  }
}
