import { errorMessage } from "@kubewright/client";
import type { Clock, Timer } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

/** The API server counts as reachable again after this time without a failed request. */
const RECOVERY_QUIET_MS = 2_000;
/**
 * Longest wait for watches to be reopened after their back-off. Until a failed watch is open again its cache is stale,
 * and syncs fail because of that.
 */
const MAX_CATCH_UP_MS = 120_000;

const UNAUTHORIZED = "the credentials were refused (401)";

/**
 * Logs once that the API server is unreachable (no response, or 401 for all requests), and once that it is reachable
 * again. The number of failed requests in between does not matter. Components keep retrying meanwhile, and their own
 * error lines are not useful then.
 */
export class OutageLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #sinceMs: number | undefined;
  /** Kinds of failures that were logged in this outage. */
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

  /** Wraps a transport to observe its requests. */
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

  /** Wraps a logger: during an outage, warnings and errors are logged at debug level. */
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
    // A change between no response and 401 is logged once; another message about the connection is not.
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

  /**
   * A watch that started before the outage is often reopened, receives 410 Gone immediately, and starts over after a
   * pause.
   */
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
