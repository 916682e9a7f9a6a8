import { errorMessage } from "@kubewright/client";
import type { Clock, Timer } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

/** For so long no request may have failed before the API server counts as back. */
const RECOVERY_QUIET_MS = 2_000;
/** Watches back off: as long as one that failed has not been opened again its cache is old, and syncs fail for that. */
const MAX_CATCH_UP_MS = 120_000;

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
  readonly #reportedKinds = new Set<string>();
  #recoveryTimer: Timer | undefined;
  #answeredMs = 0;
  /** Paths of watches that could not be opened, or have ended since. */
  readonly #closedWatches = new Set<string>();

  constructor({ clock, logger }: { clock: Clock; logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  get isOut(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** The same transport, observed. */
  observeTransport(transport: Transport): Transport {
    return async (request) => {
      let isUnsent = false;
      const beforeSend = (): void => {
        isUnsent = true;
        request.beforeSend?.();
        isUnsent = false;
      };
      try {
        const response = await transport(request.beforeSend === undefined ? request : { ...request, beforeSend });
        if (response.status === 401) {
          this.#recordFailure(UNAUTHORIZED, request);
          return response;
        }
        this.#recordAnswer(request);
        return this.isOut && isWatch(request) ? this.#observeWatchEnd(response, pathOf(request)) : response;
      } catch (error) {
        if (request.signal?.aborted !== true && !isUnsent) this.#recordFailure(errorMessage(error), request);
        throw error;
      }
    };
  }

  /** The same logger, whose warnings and errors are for the curious while the API server is out of reach. */
  quietLogger(logger: Logger): Logger {
    return {
      debug: (fields, message) => logger.debug(fields, message),
      info: (fields, message) => logger.info(fields, message),
      warn: (fields, message) => logger[this.isOut ? "debug" : "warn"](fields, message),
      error: (fields, message) => logger[this.isOut ? "debug" : "error"](fields, message),
    };
  }

  #recordFailure(err: string, request: ApiRequest): void {
    if (isWatch(request)) this.#closedWatches.add(pathOf(request));
    this.#recoveryTimer?.cancel();
    this.#recoveryTimer = undefined;
    const kind = err === UNAUTHORIZED ? err : "connection";
    // From no answer to 401, or back, is news, once; another wording of no answer is not.
    if (this.#reportedKinds.has(kind)) return;
    this.#reportedKinds.add(kind);
    this.#sinceMs ??= this.#clock.monotonic();
    this.#logger.warn({ err }, "API server is out of reach, trying on; further errors are logged at -v=4");
  }

  #recordAnswer(request: ApiRequest): void {
    if (!this.isOut) return;
    if (isWatch(request)) this.#closedWatches.delete(pathOf(request));
    if (this.#recoveryTimer !== undefined) return;
    this.#answeredMs = this.#clock.monotonic();
    this.#scheduleRecoveryCheck();
  }

  /** A watch from before the outage is often opened only to be told that it is too old, and starts over after a pause. */
  #observeWatchEnd(response: ApiResponse, path: string): ApiResponse {
    const { body } = response;
    const ended = (): void => {
      if (this.isOut) this.#closedWatches.add(path);
    };
    if (body.type === "bytes") return { ...response, body: { ...body, chunks: withFinally(body.chunks, ended) } };
    if (body.type === "events") return { ...response, body: { ...body, events: withFinally(body.events, ended) } };
    return response;
  }

  #scheduleRecoveryCheck(): void {
    this.#recoveryTimer = this.#clock.setTimer(RECOVERY_QUIET_MS, () => this.#checkRecovery(), { background: true });
  }

  #checkRecovery(): void {
    const nowMs = this.#clock.monotonic();
    if (this.#closedWatches.size > 0 && nowMs - this.#answeredMs < MAX_CATCH_UP_MS)
      return this.#scheduleRecoveryCheck();
    this.#closedWatches.clear();
    const seconds = Math.round((nowMs - this.#sinceMs!) / 1_000);
    this.#recoveryTimer = undefined;
    this.#sinceMs = undefined;
    this.#reportedKinds.clear();
    this.#logger.info({ seconds }, "API server answers again");
  }
}

async function* withFinally<T>(items: AsyncIterable<T>, then: () => void): AsyncGenerator<T> {
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
