import { errorMessage } from "@kubewright/client";
import type { Clock, Timer } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

/** For so long no request may have failed before the API server counts as back. */
const SETTLED_MS = 2_000;
/** Watches back off: as long as one that failed has not been opened again its cache is old, and syncs fail for that. */
const LONGEST_CATCH_UP_MS = 120_000;

const UNAUTHORIZED = "the credentials were refused (401)";

/**
 * Says once that the API server is out of reach (no answer, or 401 to everything), and once that it is back, however many
 * requests fail in between. Components go on trying all the while; their own complaints are then of no use.
 */
export class OutageLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #sinceMs: number | undefined;
  /** Kinds of trouble that this outage was said to have. */
  readonly #told = new Set<string>();
  #settling: Timer | undefined;
  #answeredMs = 0;
  /** Paths of watches that could not be opened, or have ended since. */
  readonly #closed = new Set<string>();

  constructor({ clock, logger }: { clock: Clock; logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  get isOut(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** The same transport, observed. */
  watched(transport: Transport): Transport {
    return async (request) => {
      let isKeptBack = false;
      const beforeSend = (): void => {
        isKeptBack = true;
        request.beforeSend?.();
        isKeptBack = false;
      };
      try {
        const response = await transport(request.beforeSend === undefined ? request : { ...request, beforeSend });
        if (response.status === 401) {
          this.#failed(UNAUTHORIZED, request);
          return response;
        }
        this.#answered(request);
        return this.isOut && isWatch(request) ? this.#noticingItsEnd(response, pathOf(request)) : response;
      } catch (error) {
        if (request.signal?.aborted !== true && !isKeptBack) this.#failed(errorMessage(error), request);
        throw error;
      }
    };
  }

  /** The same logger, whose warnings and errors are for the curious while the API server is out of reach. */
  quieted(logger: Logger): Logger {
    return {
      debug: (fields, message) => logger.debug(fields, message),
      info: (fields, message) => logger.info(fields, message),
      warn: (fields, message) => logger[this.isOut ? "debug" : "warn"](fields, message),
      error: (fields, message) => logger[this.isOut ? "debug" : "error"](fields, message),
    };
  }

  #failed(err: string, request: ApiRequest): void {
    if (isWatch(request)) this.#closed.add(pathOf(request));
    this.#settling?.cancel();
    this.#settling = undefined;
    const kind = err === UNAUTHORIZED ? err : "connection";
    // From no answer to 401, or back, is news, once; another wording of no answer is not.
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    this.#sinceMs ??= this.#clock.monotonic();
    this.#logger.warn({ err }, "API server is out of reach, trying on; further errors are logged at -v=4");
  }

  #answered(request: ApiRequest): void {
    if (!this.isOut) return;
    if (isWatch(request)) this.#closed.delete(pathOf(request));
    if (this.#settling !== undefined) return;
    this.#answeredMs = this.#clock.monotonic();
    this.#settle();
  }

  /** A watch from before the outage is often opened only to be told that it is too old, and starts over after a pause. */
  #noticingItsEnd(response: ApiResponse, path: string): ApiResponse {
    const { body } = response;
    const ended = (): void => {
      if (this.isOut) this.#closed.add(path);
    };
    if (body.type === "bytes") return { ...response, body: { ...body, chunks: andThen(body.chunks, ended) } };
    if (body.type === "events") return { ...response, body: { ...body, events: andThen(body.events, ended) } };
    return response;
  }

  #settle(): void {
    this.#settling = this.#clock.setTimer(SETTLED_MS, () => this.#settled(), { background: true });
  }

  #settled(): void {
    const nowMs = this.#clock.monotonic();
    if (this.#closed.size > 0 && nowMs - this.#answeredMs < LONGEST_CATCH_UP_MS) return this.#settle();
    this.#closed.clear();
    const seconds = Math.round((nowMs - this.#sinceMs!) / 1_000);
    this.#settling = undefined;
    this.#sinceMs = undefined;
    this.#told.clear();
    this.#logger.info({ seconds }, "API server answers again");
  }
}

async function* andThen<T>(items: AsyncIterable<T>, then: () => void): AsyncGenerator<T> {
  try {
    yield* items;
  } finally {
    then();
  }
}

function isWatch({ method, path }: ApiRequest): boolean {
  return method === "GET" && path.includes("watch=true");
}

function pathOf({ path }: ApiRequest): string {
  return path.split("?", 1)[0]!;
}
