import {
  type DeepReadonly,
  type Event,
  type KubernetesObject,
  type ResourceDefinition,
  apiVersionOf,
  events,
  formatTime,
} from "@kubewright/api";
import {
  type Client,
  StatusError,
  type Writer,
  errorMessage,
  hasStatusCause,
  isAlreadyExists,
  isNotFound,
} from "@kubewright/client";
import { type Clock, type Logger, type Random, type Timer, silentLogger, standardErrorLogger } from "@kubewright/clock";

import { EventCorrelator, type EventCorrelatorOptions } from "./event-correlator.js";
import { EventNames } from "./event-names.js";
import type { EventSink, EventType } from "./event-sink.js";
import type { Runnable } from "./runnable.js";

export interface EventRecorderOptions {
  readonly client: Pick<Client, "resource">;
  readonly clock: Clock;
  readonly random: Random;
  /** Reporting component, for example `job-controller`. */
  readonly component: string;
  /** Reporting host. Default: not set. */
  readonly host?: string;
  /** Logs every event that is not written. Default: standard error. */
  readonly logger?: Logger;
  /**
   * Milliseconds that `run` continues to write after its signal has aborted. Then `run` abandons a pending write and
   * drops the queued events. Default 5,000.
   */
  readonly stopTimeoutMs?: number;
  /**
   * Level at which every event is also logged. Upstream logs its own events at `info` and those of controllers at
   * `debug`. Default `debug`.
   */
  readonly eventLogLevel?: "debug" | "info" | undefined;
  readonly correlator?: Omit<EventCorrelatorOptions, "clock">;
}

/** Maximum number of queued events; further events are dropped. The first is logged, then their number once a minute. */
const QUEUE_CAPACITY = 1000;
/** Maximum number of attempts to write one event while the API server is unreachable. */
const MAX_ATTEMPTS = 12;
const RETRY_PAUSE_MS = 10_000;
const STOP_TIMEOUT_MS = 5_000;
const DROP_REPORT_INTERVAL_MS = 60_000;

/**
 * Records core/v1 Events about objects. It writes them in order and in the background, correlated by an {@link
 * EventCorrelator}.
 *
 * `event` only appends to a queue of at most 1000 events. The events wait until `run` writes them one at a time. An
 * event that the API server rejects is dropped. An event that cannot be sent is attempted 12 times, 10 s apart, and
 * blocks the events behind it.
 *
 * When the signal aborts, `run` attempts each queued event once, for at most 5 s in total, then resolves. Stop the
 * recorder after the components that record events (see `runInStages`). An idle recorder has no timer, but keeps the
 * process alive.
 *
 * Upstream: client-go tools/record/event.go.
 */
export class EventRecorder implements EventSink, Runnable {
  readonly name: string;
  readonly #events: Writer<Event>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #stopTimeoutMs: number;
  readonly #eventLogLevel: "debug" | "info";
  readonly #source: { readonly component: string; readonly host?: string };
  readonly #names: EventNames;
  readonly #correlator: EventCorrelator;
  readonly #queue: Event[] = [];
  readonly #flushWaiters: (() => void)[] = [];
  /** Pending while further dropped events are only counted. */
  #dropReport: Timer | undefined;
  #unreportedDrops = 0;
  #started = false;
  #writing = false;
  #ended = false;
  #wake: (() => void) | undefined;
  /** Rejects the pending write, also if its transport ignores the signal. */
  #abandon: ((reason: Error) => void) | undefined;

  constructor({ client, clock, random, component, host, correlator, ...options }: EventRecorderOptions) {
    this.name = `${component} events`;
    this.#events = client.resource(events);
    this.#clock = clock;
    this.#random = random.fork(`events of ${component}`);
    this.#logger = options.logger ?? standardErrorLogger(clock, component);
    this.#stopTimeoutMs = options.stopTimeoutMs ?? STOP_TIMEOUT_MS;
    this.#eventLogLevel = options.eventLogLevel ?? "debug";
    this.#source = host === undefined ? { component } : { component, host };
    this.#names = new EventNames({ clock, random: this.#random });
    this.#correlator = new EventCorrelator({ ...correlator, clock });
  }

  event(
    object: DeepReadonly<KubernetesObject>,
    definition: ResourceDefinition,
    type: EventType,
    reason: string,
    message: string,
  ): void {
    const { name, namespace, uid, resourceVersion } = object.metadata;
    const apiVersion = apiVersionOf(definition);
    const { kind } = definition;
    const log = (level: keyof Logger, logMessage: string): void => {
      const shown = namespace ? `${namespace}/${name}` : name;
      this.#logger[level]({ object: shown, fieldPath: "", kind, apiVersion, type, reason, message }, logMessage);
    };
    if (!name || !kind || !definition.version)
      return log("error", "Could not construct reference, will not report event");
    if (type !== "Normal" && type !== "Warning") return log("error", "Unsupported event type");
    if (this.#ended) return log("error", "Unable to record event (will not retry!)");
    if (this.#queue.length >= QUEUE_CAPACITY) {
      const isFirst = this.#dropReport === undefined;
      log(isFirst ? "error" : "debug", "Unable to record event: too many queued events, dropped event");
      if (isFirst) this.#scheduleDropReport();
      else this.#unreportedDrops++;
      return;
    }
    if (this.#logger !== silentLogger) log(this.#eventLogLevel, "Event occurred");
    const now = formatTime(this.#clock.now());
    this.#queue.push({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: this.#names.next(name), namespace: namespace || "default" },
      // One literal for the common case: building the object from conditional parts costs as much as the rest of this
      // method.
      involvedObject:
        namespace && uid !== undefined && resourceVersion !== undefined
          ? { kind, namespace, name, uid, apiVersion, resourceVersion }
          : {
              kind,
              ...(namespace ? { namespace } : {}),
              name,
              ...(uid === undefined ? {} : { uid }),
              apiVersion,
              ...(resourceVersion === undefined ? {} : { resourceVersion }),
            },
      reason,
      message,
      source: this.#source,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      type,
      reportingComponent: this.#source.component,
      reportingInstance: this.#source.host ?? "",
    });
    this.#wake?.();
  }

  /** Resolves when all recorded events, including those added meanwhile, are written or dropped. Requires `run`. */
  flush(): Promise<void> {
    if (this.#ended || (!this.#writing && this.#queue.length === 0)) return Promise.resolve();
    return new Promise((resolve) => this.#flushWaiters.push(resolve));
  }

  /** @throws Error when called a second time. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#started) throw new Error(`${this.name} was run already: make a new recorder`);
    this.#started = true;
    const release = this.#clock.keepAlive();
    const giveUp = new AbortController();
    const drain = (): void => {
      drainTimer = this.#clock.setTimer(this.#stopTimeoutMs, () => {
        const reason = new Error("event recorder stopped");
        giveUp.abort(reason);
        this.#abandon?.(reason);
      });
      this.#wake?.();
    };
    let drainTimer: { cancel(): void } | undefined;
    if (signal.aborted) drain();
    else signal.addEventListener("abort", drain, { once: true });
    while (!giveUp.signal.aborted) {
      const event = this.#queue.shift();
      if (event !== undefined) {
        this.#writing = true;
        await this.#record(event, signal, giveUp.signal);
        this.#writing = false;
        continue;
      }
      this.#resolveFlushWaiters();
      if (signal.aborted) break;
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
    drainTimer?.cancel();
    this.#dropReport?.cancel();
    this.#ended = true;
    this.#reportDrops();
    if (this.#queue.length > 0)
      this.#logger.warn({ recorder: this.name, events: this.#queue.length }, "Unable to write events in time, dropped");
    this.#queue.length = 0;
    this.#resolveFlushWaiters();
    release();
  }

  #scheduleDropReport(): void {
    const report = (): void => {
      this.#dropReport = undefined;
      if (this.#reportDrops()) this.#scheduleDropReport();
    };
    this.#dropReport = this.#clock.setTimer(DROP_REPORT_INTERVAL_MS, report, { background: true });
  }

  /** Returns whether events were dropped since the last report. */
  #reportDrops(): boolean {
    const dropped = this.#unreportedDrops;
    if (dropped === 0) return false;
    this.#unreportedDrops = 0;
    const fields = { recorder: this.name, events: dropped };
    this.#logger.error(fields, "Unable to record events: too many queued events, dropped events");
    return true;
  }

  #resolveFlushWaiters(): void {
    if (this.#flushWaiters.length > 0) for (const resolve of this.#flushWaiters.splice(0)) resolve();
  }

  async #record(recorded: Event, stopping: AbortSignal, signal: AbortSignal): Promise<void> {
    const { event, action, combined } = this.#correlator.correlate(recorded, () =>
      this.#names.next(recorded.involvedObject.name ?? ""),
    );
    if (action === "discard") return;
    for (let attempt = 1; ; attempt++) {
      try {
        const stored = await new Promise<DeepReadonly<Event>>((resolve, reject) => {
          this.#abandon = reject;
          this.#write(event, action, signal).then(resolve, reject);
        });
        if (!combined) this.#correlator.updateState(event, stored);
        return;
      } catch (error) {
        if (error instanceof StatusError) return this.#logRejected(event, error);
        if (attempt >= MAX_ATTEMPTS)
          return this.#logDropped(event, error, "Unable to write event (retry limit exceeded!)");
        try {
          await this.#clock.sleep(attempt === 1 ? this.#random.next() * RETRY_PAUSE_MS : RETRY_PAUSE_MS, stopping);
        } catch {
          return this.#logDropped(event, error, "Unable to write event (broadcaster is shut down)");
        }
      }
    }
  }

  #logRejected(event: Event, error: StatusError): void {
    const fields = { event: event.metadata.name, namespace: event.metadata.namespace, err: error.message };
    const expected = isAlreadyExists(error) || hasStatusCause(error, "NamespaceTerminating");
    this.#logger[expected ? "debug" : "error"](fields, "Server rejected event (will not retry!)");
  }

  #logDropped(event: Event, error: unknown, message: string): void {
    this.#logger.error(
      { event: event.metadata.name, namespace: event.metadata.namespace, err: errorMessage(error) },
      message,
    );
  }

  #write(event: Event, action: "create" | "patch", signal: AbortSignal): Promise<DeepReadonly<Event>> {
    const { name = "", namespace } = event.metadata;
    if (action === "create") return this.#events.create(event, { namespace, signal });
    const body = { count: event.count, lastTimestamp: event.lastTimestamp, message: event.message };
    return this.#events.patch(name, { type: "strategic", body }, { namespace, signal }).catch((error: unknown) => {
      // The Event has expired or was deleted: it is created again with its current count.
      if (!isNotFound(error)) throw error;
      return this.#events.create(event, { namespace, signal });
    });
  }
}
