import type { KubernetesObject, ObjectKey, ResourceDefinition } from "@kubewright/api";
import { type Client, errorMessage } from "@kubewright/client";
import { type Clock, type Logger, type Random, standardErrorLogger } from "@kubewright/clock";
import { type InformerError, InformerFactory, type SharedInformer } from "@kubewright/informer";
import {
  ItemExponentialFailureRateLimiter,
  PriorityQueue,
  type QueueMetricsProvider,
  type RateLimiter,
  RateLimitingQueue,
  defaultControllerRateLimiter,
} from "@kubewright/workqueue";

import type { ControllerDeps } from "./controller-deps.js";
import { EventRecorder } from "./event-recorder.js";
import type { EventSink } from "./event-sink.js";
import { type Reconcile, ReconcileLoop } from "./reconcile-loop.js";
import { type Runnable, runInStages } from "./runnable.js";
import { STOP_TIMEOUT_MS, StopTimeoutError, withStopDeadline } from "./stop-deadline.js";

export interface ControllerShellOptions {
  /** Name in logs, health checks and errors, such as `job-controller`. */
  readonly name: string;
  /** Source component of the controller's events. Default: the name. */
  readonly component?: string;
  /**
   * Records the controller's events, and is run and stopped with it. Ignored when the dependencies have `events`.
   * Default: an {@link EventRecorder}.
   */
  readonly recorder?: EventSink & Runnable;
  /** Log messages, at level `info`, for the start and the end. Default: `Starting NAME` and `Shutting down NAME`. */
  readonly logMessages?: {
    readonly starting: string;
    readonly stopped: string;
    /** Default: none. */
    readonly fields?: object;
  };
}

export interface ShellLoopOptions<Key extends string = ObjectKey> {
  /** Name of the queue in metrics: `workqueue_depth{name="job"}`. */
  readonly queue: string;
  readonly reconcile: Reconcile<Key>;
  /** Number of keys reconciled concurrently: an integer of at least 1. Default 1. */
  readonly workers?: number;
  /**
   * Delays retries of failed keys. Default: client-go's limiter, 5 ms doubling up to 1,000 s per key, and ten retries a
   * second over all keys.
   */
  readonly rateLimiter?: RateLimiter<NoInfer<Key>>;
  /** Name in logs and errors. Default: the controller's name. */
  readonly name?: string;
  /** Log message for a failed reconcile. Default `Reconciling failed`. */
  readonly describeError?: string;
  /** Awaited before the first key is reconciled. Default: {@link ControllerShell.waitForSync}. */
  readonly waitForSync?: (signal: AbortSignal) => Promise<void>;
}

/** Work that runs until its signal aborts, and then finishes what it has begun. */
export interface ShellWork {
  /** Describes the work in the error for a missed stop deadline: `a pass`. */
  readonly description: string;
  /** A rejection after the signal has aborted counts as a normal end. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/**
 * The part that all controllers share: caches, queues with reconcile loops, an event recorder, and the start and stop
 * order. A controller requests them in its constructor and delegates `run` to its shell.
 *
 * `run` stops in this order:
 *
 * - The loops take no more keys.
 * - Work in progress ends, within `stopTimeoutMs`.
 * - Caches and other support stop.
 * - The event recorder writes the remaining events.
 *
 * The start order is the reverse: events first, work last. The process is kept alive meanwhile.
 *
 * Upstream: the `Run` of every controller in kubernetes/pkg/controller; controller-runtime pkg/manager
 * `engageStopProcedure`.
 */
export class ControllerShell implements Runnable {
  readonly name: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly events: EventSink;
  /** Shared caches, or the controller's own: see {@link informer}. */
  readonly informers: InformerFactory;
  readonly #logMessages: Required<NonNullable<ControllerShellOptions["logMessages"]>>;
  readonly #queueMetrics: QueueMetricsProvider | undefined;
  readonly #stopTimeoutMs: number;
  readonly #onFailure: ((error: unknown) => void) | undefined;
  readonly #caches = new Set<Pick<SharedInformer<KubernetesObject>, "waitForSync">>();
  readonly #work: Runnable[] = [];
  readonly #support: Runnable[] = [];
  readonly #recording: Runnable[] = [];
  readonly #stoppedCallbacks: (() => void)[] = [];
  #started = false;

  constructor(deps: ControllerDeps, options: ControllerShellOptions) {
    const { name, component = name, logMessages } = options;
    const { client, clock, random, stopTimeoutMs = STOP_TIMEOUT_MS } = deps;
    const logger = deps.logger ?? standardErrorLogger(clock, name);
    this.name = name;
    this.client = client;
    this.clock = clock;
    this.random = random;
    this.logger = logger;
    this.#logMessages = { starting: `Starting ${name}`, stopped: `Shutting down ${name}`, fields: {}, ...logMessages };
    this.#queueMetrics = deps.queueMetrics;
    this.#stopTimeoutMs = stopTimeoutMs;
    this.#onFailure = deps.onFailure;
    if (deps.events !== undefined) this.events = deps.events;
    else {
      const recorder = options.recorder ?? new EventRecorder({ client, clock, random, component, logger });
      this.events = recorder;
      this.#recording.push(recorder);
    }
    if (deps.informers !== undefined) this.informers = deps.informers;
    else {
      const onError = (error: InformerError): void => {
        if (error.step === "handler") deps.onFailure?.(error.cause);
        logger.error({ step: error.step, err: errorMessage(error) }, "Informer failed, going on");
      };
      this.informers = new InformerFactory({ client, clock, random: random.fork("informers"), onError });
      this.#support.push(this.informers);
    }
  }

  /** Returns the cache of a resource. The loops take no key before the cache is filled. */
  informer<T extends KubernetesObject>(definition: ResourceDefinition<T>): SharedInformer<T> {
    const informer = this.informers.informerFor(definition);
    this.#caches.add(informer);
    return informer;
  }

  /**
   * Adds a queue and a {@link ReconcileLoop} that processes it. Returns the queue, so that event handlers can add keys.
   *
   * @throws RangeError when the number of workers is not an integer of at least 1, or `stopTimeoutMs` is negative;
   * Error when the controller has started.
   */
  addLoop<Key extends string = ObjectKey>(options: ShellLoopOptions<Key>): RateLimitingQueue<Key> {
    const { clock } = this;
    const { queue: name, rateLimiter = defaultControllerRateLimiter<Key>({ clock }) } = options;
    const queue = new RateLimitingQueue<Key>({ clock, name, rateLimiter, metrics: this.#queueMetrics });
    this.#addReconcileLoop(queue, options);
    return queue;
  }

  /**
   * Adds a priority queue and a {@link ReconcileLoop} that processes it. Keys of new changes are reconciled before the
   * keys of an initial list.
   *
   * Each failed key backs off on its own, without an overall rate limit: a retry keeps its priority, as in
   * controller-runtime.
   *
   * @throws As {@link addLoop}.
   */
  addPriorityLoop<Key extends string = ObjectKey>(options: ShellLoopOptions<Key>): PriorityQueue<Key> {
    const { clock } = this;
    const {
      queue: name,
      rateLimiter = new ItemExponentialFailureRateLimiter<Key>({ baseDelayMs: 5, maxDelayMs: 1_000_000 }),
    } = options;
    const queue = new PriorityQueue<Key>({ clock, name, rateLimiter, metrics: this.#queueMetrics });
    this.#addReconcileLoop(queue, options);
    return queue;
  }

  #addReconcileLoop<Key extends string>(
    queue: RateLimitingQueue<Key>,
    { queue: _name, rateLimiter: _limiter, ...loop }: ShellLoopOptions<Key>,
  ): void {
    this.#checkNotStarted();
    const { clock, logger } = this;
    this.#work.push(
      new ReconcileLoop<Key>({
        name: this.name,
        workers: 1,
        waitForSync: (signal) => this.waitForSync(signal),
        ...loop,
        queue,
        clock,
        logger,
        onFailure: this.#onFailure,
        stopTimeoutMs: this.#stopTimeoutMs,
      }),
    );
  }

  /**
   * Adds work without a queue, such as a periodic task. It starts immediately, before the caches are filled. Like a
   * reconcile, it is abandoned when it misses the stop deadline.
   *
   * @throws Error when the controller has started.
   */
  addWork({ description, run }: ShellWork): void {
    this.#checkNotStarted();
    const { name, clock, logger } = this;
    const limitMs = this.#stopTimeoutMs;
    const runWithDeadline = async (signal: AbortSignal): Promise<void> => {
      try {
        await withStopDeadline(run(signal), { clock, signal, limitMs, unfinished: () => `${name}: ${description}` });
      } catch (error) {
        const isLate = error instanceof StopTimeoutError;
        if (isLate) logger.error({ controller: name }, error.message);
        if (isLate || !signal.aborted) throw error;
      }
    };
    this.#work.push({ name, run: runWithDeadline });
  }

  /**
   * Adds a runnable that work needs until it has ended, such as a cache that no informer factory runs.
   *
   * @throws Error when the controller has started.
   */
  addSupport(support: Runnable): void {
    this.#checkNotStarted();
    this.#support.push(support);
  }

  /** Registers a callback, for example to cancel timers. It runs after everything has stopped, also after a failure. */
  onStopped(callback: () => void): void {
    this.#stoppedCallbacks.push(callback);
  }

  /**
   * Resolves when every cache requested with {@link informer} is filled. @throws the signal's reason when it aborts
   * first.
   */
  async waitForSync(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from(this.#caches, (cache) => cache.waitForSync(signal)));
  }

  /**
   * Runs until the signal aborts.
   *
   * @throws Error when called a second time; StopTimeoutError when work misses the stop deadline; the error of a failed
   * part, after the other parts have stopped in order.
   */
  async run(signal: AbortSignal): Promise<void> {
    this.#checkNotStarted();
    this.#started = true;
    const { starting, stopped, fields } = this.#logMessages;
    const release = this.clock.keepAlive();
    this.logger.info(fields, starting);
    try {
      await runInStages([this.#work, this.#support, this.#recording], signal);
    } finally {
      for (const callback of this.#stoppedCallbacks) callback();
      release();
      this.logger.info(fields, stopped);
    }
  }

  #checkNotStarted(): void {
    if (this.#started) throw new Error(`${this.name} was run already: make a new one`);
  }
}
