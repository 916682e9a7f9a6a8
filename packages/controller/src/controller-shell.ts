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
  /** As in logs, health checks and errors, such as `job-controller`. */
  readonly name: string;
  /** Who its events say they are from. Default: the name. */
  readonly component?: string;
  /** What is logged, at level `info`, when it starts and when it has stopped. Default: `Starting NAME`, `Shutting down NAME`. */
  readonly logMessages?: {
    readonly starting: string;
    readonly stopped: string;
    /** Default: none. */
    readonly fields?: object;
  };
}

export interface ShellLoopOptions<Key extends string = ObjectKey> {
  /** What the queue is called in metrics: `workqueue_depth{name="job"}`. */
  readonly queue: string;
  readonly reconcile: Reconcile<Key>;
  /** Keys reconciled at once: a whole number from 1 on. Default 1. */
  readonly workers?: number;
  /** How long a key that failed waits. Default: client-go's, 5 ms doubling up to 1,000 s, and all together ten a second. */
  readonly rateLimiter?: RateLimiter<NoInfer<Key>>;
  /** As in logs and errors. Default: the controller's name. */
  readonly name?: string;
  /** What the log says when a reconcile fails. Default `Reconciling failed`. */
  readonly describeError?: string;
  /** Awaited before the first key is taken. Default: {@link ControllerShell.waitForSync}. */
  readonly waitForSync?: (signal: AbortSignal) => Promise<void>;
}

/** Something that runs until it is told to stop, and then ends what it has begun. */
export interface ShellWork {
  /** What it does, for the error when it does not end in time: `a pass`. */
  readonly description: string;
  /** What it rejects with after the signal has aborted counts as its end. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/**
 * What every controller is around its decisions: caches, queues with the loops that work them off, a recorder of events,
 * and the order in which these start and stop. A controller asks its shell for them when it is made, and hands `run` on.
 *
 * `run` stops in this order: no more keys are taken, what is under way ends (for at most `stopTimeoutMs`), then what served
 * it stops, and last the events of all that are written. Events first and work last is how they start. The process is kept
 * alive meanwhile.
 *
 * Upstream: the `Run` of every controller in kubernetes/pkg/controller; controller-runtime pkg/manager `engageStopProcedure`.
 */
export class ControllerShell implements Runnable {
  readonly name: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly events: EventSink;
  /** Shared with others, or its own: see {@link informer}. */
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

  constructor(deps: ControllerDeps, { name, component = name, logMessages }: ControllerShellOptions) {
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
      const recorder = new EventRecorder({ client, clock, random, component, logger });
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

  /** The cache of a resource, which is waited for before any key is taken. */
  informer<T extends KubernetesObject>(definition: ResourceDefinition<T>): SharedInformer<T> {
    const informer = this.informers.informerFor(definition);
    this.#caches.add(informer);
    return informer;
  }

  /**
   * Adds a queue, and a {@link ReconcileLoop} that works it off. Answers with the queue, for handlers to add keys to.
   *
   * @throws RangeError when the number of workers is not a whole number from 1 on, or `stopTimeoutMs` is negative; Error when
   *   it runs already.
   */
  addLoop<Key extends string = ObjectKey>(options: ShellLoopOptions<Key>): RateLimitingQueue<Key> {
    const { clock } = this;
    const { queue: name, rateLimiter = defaultControllerRateLimiter<Key>({ clock }) } = options;
    const queue = new RateLimitingQueue<Key>({ clock, name, rateLimiter, metrics: this.#queueMetrics });
    this.#addReconcileLoop(queue, options);
    return queue;
  }

  /**
   * The same with a queue of priorities: what has just changed need not wait for all that an initial list brings. Failures
   * back off one by one, and are not limited all together, since a retry keeps its priority (as controller-runtime).
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
   * Adds work that no queue hands out, such as something done every so often. It begins at once, before the caches are
   * filled, and is given up like a reconcile when it does not end in time.
   *
   * @throws Error when it runs already.
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
   * Adds what work needs until it has ended, such as a cache that no informer factory runs.
   *
   * @throws Error when it runs already.
   */
  addSupport(support: Runnable): void {
    this.#checkNotStarted();
    this.#support.push(support);
  }

  /** Has something let go of, such as timers, once everything has stopped, whether or not it has failed. */
  onStopped(callback: () => void): void {
    this.#stoppedCallbacks.push(callback);
  }

  /** Resolves once every cache asked for by {@link informer} is filled. @throws the signal's reason when it aborts first. */
  async waitForSync(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from(this.#caches, (cache) => cache.waitForSync(signal)));
  }

  /**
   * Runs until the signal aborts.
   *
   * @throws Error when called a second time; StopTimeoutError when work does not end in time; what part of it failed with,
   *   once the rest has stopped in order.
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
