import { type DeepReadonly, type KubernetesObject, type ResourceDefinition, apiVersionOf } from "@kubewright/api";
import { StatusError, errorMessage, hasStatusCause, isAlreadyExists } from "@kubewright/client";
import { type Clock, type Logger, type Timer, silentLogger, standardErrorLogger } from "@kubewright/clock";

import type { EventType } from "./event-sink.js";
import type { Runnable } from "./runnable.js";

/** An Event that is ready to be written. */
export interface PendingEvent {
  /** Of the Event, for log lines. */
  readonly metadata: { readonly name?: string | undefined; readonly namespace?: string | undefined };
  /** Sends it once. A rejection with a {@link StatusError} is final; any other one is retried. */
  readonly send: (signal: AbortSignal) => Promise<void>;
}

export interface EventWriterOptions<Recorded> {
  /** Reporting component. */
  readonly component: string;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  readonly stopTimeoutMs?: number | undefined;
  readonly eventLogLevel?: "debug" | "info" | undefined;
  /** Called when it is an event's turn. Returns `undefined` to discard the event. */
  readonly prepare: (recorded: Recorded) => PendingEvent | undefined;
  /** Milliseconds to wait after a failed attempt. The first attempt is 1. */
  readonly pauseMs: (attempt: number) => number;
}

/** Maximum number of queued events; further events are dropped. The first is logged, then their number once a minute. */
const QUEUE_CAPACITY = 1000;
/** Maximum number of attempts to write one event while the API server is unreachable. */
const MAX_ATTEMPTS = 12;
const STOP_TIMEOUT_MS = 5_000;
const DROP_REPORT_INTERVAL_MS = 60_000;

/**
 * The part that the event recorders share: a queue of at most 1000 events, which `run` writes one at a time and in
 * order.
 *
 * An event that the API server rejects is dropped. An event that cannot be sent is attempted 12 times, and blocks the
 * events behind it. When the signal aborts, `run` attempts each queued event once, for at most 5 s in total, then
 * resolves.
 */
export class EventWriter<Recorded> implements Runnable {
  readonly name: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #stopTimeoutMs: number;
  readonly #eventLogLevel: "debug" | "info";
  readonly #prepare: EventWriterOptions<Recorded>["prepare"];
  readonly #pauseMs: EventWriterOptions<Recorded>["pauseMs"];
  readonly #queue: Recorded[] = [];
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

  constructor({ component, clock, prepare, pauseMs, ...options }: EventWriterOptions<Recorded>) {
    this.name = `${component} events`;
    this.#clock = clock;
    this.#logger = options.logger ?? standardErrorLogger(clock, component);
    this.#stopTimeoutMs = options.stopTimeoutMs ?? STOP_TIMEOUT_MS;
    this.#eventLogLevel = options.eventLogLevel ?? "debug";
    this.#prepare = prepare;
    this.#pauseMs = pauseMs;
  }

  /** Whether {@link add} may be called. */
  get hasRoom(): boolean {
    return this.#queue.length < QUEUE_CAPACITY;
  }

  /** Returns whether an event is valid and can be queued, and logs it. */
  admits(
    object: DeepReadonly<KubernetesObject>,
    definition: ResourceDefinition,
    type: EventType,
    reason: string,
    message: string,
  ): boolean {
    const { name, namespace } = object.metadata;
    const { kind } = definition;
    const log = (level: keyof Logger, logMessage: string): void => {
      const shown = namespace ? `${namespace}/${name}` : name;
      const apiVersion = apiVersionOf(definition);
      this.#logger[level]({ object: shown, fieldPath: "", kind, apiVersion, type, reason, message }, logMessage);
    };
    const refuse = (level: keyof Logger, logMessage: string): false => {
      log(level, logMessage);
      return false;
    };
    if (!name || !kind || !definition.version)
      return refuse("error", "Could not construct reference, will not report event");
    if (type !== "Normal" && type !== "Warning") return refuse("error", "Unsupported event type");
    if (this.#ended) return refuse("error", "Unable to record event (will not retry!)");
    if (!this.hasRoom) {
      const isFirst = this.#dropReport === undefined;
      if (isFirst) this.#scheduleDropReport();
      else this.#unreportedDrops++;
      return refuse(isFirst ? "error" : "debug", "Unable to record event: too many queued events, dropped event");
    }
    if (this.#logger !== silentLogger) log(this.#eventLogLevel, "Event occurred");
    return true;
  }

  /** Queues an event. */
  add(recorded: Recorded): void {
    this.#queue.push(recorded);
    this.#wake?.();
  }

  /** Resolves when all queued events, including those added meanwhile, are written or dropped. Requires `run`. */
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
        await this.#write(event, signal, giveUp.signal);
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

  async #write(recorded: Recorded, stopping: AbortSignal, signal: AbortSignal): Promise<void> {
    const pending = this.#prepare(recorded);
    if (pending === undefined) return;
    for (let attempt = 1; ; attempt++) {
      try {
        await new Promise<void>((resolve, reject) => {
          this.#abandon = reject;
          pending.send(signal).then(resolve, reject);
        });
        return;
      } catch (error) {
        if (error instanceof StatusError) return this.#logRejected(pending, error);
        if (attempt >= MAX_ATTEMPTS)
          return this.#logDropped(pending, error, "Unable to write event (retry limit exceeded!)");
        try {
          await this.#clock.sleep(this.#pauseMs(attempt), stopping);
        } catch {
          return this.#logDropped(pending, error, "Unable to write event (broadcaster is shut down)");
        }
      }
    }
  }

  #logRejected({ metadata: { name, namespace } }: PendingEvent, error: StatusError): void {
    const expected = isAlreadyExists(error) || hasStatusCause(error, "NamespaceTerminating");
    const fields = { event: name, namespace, err: error.message };
    this.#logger[expected ? "debug" : "error"](fields, "Server rejected event (will not retry!)");
  }

  #logDropped({ metadata: { name, namespace } }: PendingEvent, error: unknown, message: string): void {
    this.#logger.error({ event: name, namespace, err: errorMessage(error) }, message);
  }
}
