import { type Client, errorMessage } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { Logger, Runnable } from "@kubewright/controller";

import type { Monitors } from "./monitors.js";
import type { AnyResource, ResourceCatalog } from "./resource-catalog.js";

export interface ResourceDiscoveryOptions {
  readonly client: Pick<Client, "getRaw">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly catalog: ResourceCatalog;
  readonly monitors: Monitors;
  /** Resources without a cache. */
  readonly ignores: ((resource: AnyResource) => boolean) | undefined;
  /** Default 30,000; may be `Infinity`. */
  readonly intervalMs: number | undefined;
  /** Called when discovery fails, or a cache takes too long to fill. */
  readonly onSyncError: () => void;
}

/** Upstream's interval, and the maximum pause after a failed discovery. */
const DISCOVERY_INTERVAL_MS = 30_000;
/** Minimum pause between two discoveries when resources change continuously. */
const MIN_PAUSE_MS = 1_000;
/** Maximum time to wait until the caches are filled. */
const SYNC_TIMEOUT_MS = 30_000;

/**
 * Keeps the catalog and the monitors consistent with the resources that the API server serves.
 *
 * @see kubernetes v1.36 pkg/controller/garbagecollector/garbagecollector.go Sync
 */
export class ResourceDiscovery implements Runnable {
  readonly name = "garbage collector's discovery";
  readonly #options: ResourceDiscoveryOptions;
  /** Resolves when the monitors are started for the first time. */
  readonly #started = Promise.withResolvers<void>();
  #isDue = false;
  #wake: (() => void) | undefined;

  constructor(options: ResourceDiscoveryOptions) {
    this.#options = options;
  }

  /**
   * Starts a discovery after a change of resources: immediately, or one second after the discovery in progress, instead
   * of at the interval.
   */
  discoverNow(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        this.#isDue = false;
        // Discovery writes nothing, so a stop need not wait for a response.
        const isComplete = await untilAborted(this.#syncMonitors(signal), signal);
        if (this.#isDue) await this.#options.clock.sleep(MIN_PAUSE_MS, signal, { background: true });
        else await this.#pause(isComplete, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    await this.#options.monitors.stopped();
  }

  /**
   * Returns whether all monitors fill their caches within 30 s. This is only a hint: the garbage collector also works
   * with incomplete caches.
   *
   * @throws the signal's reason when it aborts first.
   */
  async waitForSyncWithTimeout(signal: AbortSignal): Promise<boolean> {
    const { clock, monitors } = this.#options;
    const timeout = new AbortController();
    const timer = clock.setTimer(SYNC_TIMEOUT_MS, () => timeout.abort(), { background: true });
    const either = AbortSignal.any([signal, timeout.signal]);
    try {
      await untilAborted(this.#started.promise, either);
      await monitors.waitForSync(either);
      return true;
    } catch (error) {
      if (signal.aborted || !timeout.signal.aborted) throw error;
      return false;
    } finally {
      timer.cancel();
    }
  }

  /** Returns whether all resources could be read. */
  async #syncMonitors(signal: AbortSignal): Promise<boolean> {
    const { catalog, client, logger, monitors, ignores = () => false, onSyncError } = this.#options;
    let failures: ReadonlyMap<string, unknown>;
    try {
      failures = await catalog.refresh(client, signal);
    } catch (error) {
      signal.throwIfAborted();
      logger.error({ err: errorMessage(error) }, "Error getting all resources from the API server");
      onSyncError();
      return false;
    }
    for (const [apiVersion, error] of failures) {
      logger.warn({ apiVersion, err: errorMessage(error) }, "Failed to discover some groups");
    }
    if (catalog.deletable.length === 0) {
      logger.info({}, "No resources reported by discovery, skipping garbage collector sync");
      onSyncError();
      return false;
    }
    const followed = catalog.deletable.filter((resource) => !ignores(resource));
    const changed = monitors.sync(followed, signal);
    this.#started.resolve();
    if (changed && !(await this.waitForSyncWithTimeout(signal))) {
      logger.error({ resources: monitors.unsynced }, "Timed out waiting for dependency graph builder sync");
      onSyncError();
    }
    return failures.size === 0;
  }

  async #pause(isComplete: boolean, signal: AbortSignal): Promise<void> {
    const { clock, intervalMs = DISCOVERY_INTERVAL_MS } = this.#options;
    const pauseMs = isComplete ? intervalMs : Math.min(intervalMs, DISCOVERY_INTERVAL_MS);
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const stop = AbortSignal.any([signal, woken.signal]);
    try {
      if (Number.isFinite(pauseMs)) await clock.sleep(pauseMs, stop, { background: true });
      else await untilAborted(new Promise<never>(() => undefined), stop);
    } catch (error) {
      if (!woken.signal.aborted) throw error;
    } finally {
      this.#wake = undefined;
    }
  }
}

/** @throws the signal's reason when it aborts first. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
