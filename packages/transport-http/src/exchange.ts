import type { HeaderFields } from "@kubewright/transport";
import type { Dispatcher } from "undici";

import { ReceivedChunks } from "./received-chunks.js";

export interface ExchangeOptions {
  readonly signal: AbortSignal | undefined;
  /**
   * Called when the request has its connection, right before it is written. Until then it may have waited for other
   * requests.
   */
  readonly beforeSend: (() => void) | undefined;
  /** Maps an error to the one that the reader of the body gets. */
  readonly mapError: (error: unknown) => unknown;
  /** Whether the body ends, instead of failing, when the signal aborts. */
  readonly endsWhenAborted: boolean;
}

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly chunks: ReceivedChunks;
}

type Controller = Dispatcher.DispatchController;

/**
 * One request in progress. Converts undici's callbacks to a response and its body. Undici's own `request` creates a
 * Node stream for each body, which costs more than the rest of a small response (bench/README.md).
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Rejects with undici's error, or with the signal's reason, if there is no response. */
  readonly response: Promise<ReceivedResponse>;
  readonly #options: ExchangeOptions;
  readonly #responseResolvers = Promise.withResolvers<ReceivedResponse>();
  #controller: Controller | undefined;
  #chunks: ReceivedChunks | undefined;
  #isFinished = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.response = this.#responseResolvers.promise;
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#isFinished) this.#abortRequest();
    else this.#options.beforeSend?.();
  }

  onResponseStart(controller: Controller, status: number, headers: object): void {
    // Informational responses can precede the response (103 Early Hints).
    if (status < 200) return;
    const pause = (): void => controller.pause();
    const resume = (): void => controller.resume();
    this.#chunks = new ReceivedChunks({ pause, resume, cancel: () => this.#abortRequest() });
    this.#responseResolvers.resolve({ status, headers: headers as HeaderFields, chunks: this.#chunks });
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    if (!this.#isFinished) this.#chunks?.push(chunk);
  }

  onResponseEnd(): void {
    this.#finish();
    this.#chunks?.end();
  }

  onResponseError(_controller: unknown, error: unknown): void {
    if (!this.#isFinished) this.#fail(error);
  }

  readonly #onAbort = (): void => {
    this.#chunks?.clear();
    if (this.#options.endsWhenAborted) this.#chunks?.end();
    this.#fail(this.#options.signal?.reason);
    this.#abortRequest();
  };

  #fail(error: unknown): void {
    this.#finish();
    if (this.#chunks === undefined) this.#responseResolvers.reject(error);
    else this.#chunks.fail(this.#options.mapError(error));
  }

  #abortRequest(): void {
    this.#finish();
    this.#controller?.abort(new Error("the answer is not read any more"));
  }

  #finish(): void {
    this.#isFinished = true;
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
  }
}
