import {
  type DeepReadonly,
  type KubernetesObject,
  type ObjectKey,
  metadataOnly,
  splitObjectKey,
} from "@kubewright/api";
import { errorMessage, isNotFound } from "@kubewright/client";
import { type Random, uuid } from "@kubewright/clock";
import { ControllerShell, type ReconcileResult, type Runnable } from "@kubewright/controller";
import { BucketRateLimiter, ItemExponentialFailureRateLimiter, MaxOfRateLimiter } from "@kubewright/workqueue";

import type { ControllerContext } from "./controller-context.js";
import type { ControllerSpec } from "./controller-spec.js";
import { type EventTarget, keyOfTarget, runEventSource } from "./event-source.js";
import { OperatorClient } from "./operator-client.js";
import { OwnWrites } from "./own-writes.js";
import type { ReconcileMetrics, ReconcileOutcome } from "./reconcile-metrics.js";
import type { ObjectEvents, ReconcileRequest, RequestScope } from "./reconcile-request.js";
import { scopedLogger } from "./scoped-logger.js";
import { connect } from "./source.js";
import { type Span, SPAN_KIND, withSpan } from "./tracing.js";

/** Creates a controller from its declaration, on a {@link ControllerShell}. The caller runs the caches. */
export function buildController<T extends KubernetesObject, Metrics>(
  spec: ControllerSpec<T, Metrics>,
  context: ControllerContext,
): Runnable {
  return new RunningController(spec, context).shell;
}

class RunningController<T extends KubernetesObject, Metrics> {
  readonly shell: ControllerShell;
  readonly #spec: ControllerSpec<T, Metrics>;
  readonly #context: ControllerContext;
  readonly #writes: OwnWrites;
  readonly #measure: ReconcileMetrics;
  readonly #ids: Random;

  constructor(spec: ControllerSpec<T, Metrics>, context: ControllerContext) {
    const { client, clock, random, caches, cache, controllerMetrics, stopTimeoutMs, onFailure } = context;
    const { name, workers = 1 } = spec;
    this.#spec = spec;
    this.#context = context;
    this.#writes = new OwnWrites(caches, cache);
    this.#measure = context.reconciles(name, workers);
    const logger = scopedLogger(context.logger, { controller: name });
    const ownRandom = random.fork(name);
    this.shell = new ControllerShell(
      {
        client,
        clock,
        random: ownRandom,
        logger,
        queueMetrics: controllerMetrics.queues,
        stopTimeoutMs,
        onFailure,
      },
      { name, recorder: context.eventRecorder({ client, random: ownRandom, logger }) },
    );
    this.#ids = this.shell.random.fork("reconcile ids");
    const queue = this.shell.addPriorityLoop<ObjectKey>({
      queue: name,
      workers,
      rateLimiter: rateLimiterOf(spec, context),
      describeError: "Reconciler error",
      reconcile: (key, signal) => this.#reconcile(key, signal),
    });
    const connections: (() => void)[] = [];
    this.shell.addWork({
      description: "watching",
      run: async () => {
        // Only now: a standby must fill its caches, but not its queues.
        for (const source of spec.sources) connections.push(source((each) => connect(each, { caches, cache, queue })));
      },
    });
    for (const { name: sourceName, source, priority = 0 } of spec.eventSources) {
      const enqueue = (target: EventTarget): void => {
        const key = keyOfTarget(target);
        // The keys of other replicas' namespaces: those replicas run the source, too.
        if (context.isShared === true && !this.#isCached(key)) return;
        queue.addWithOptions({ priority }, key);
      };
      const scope = { enqueue, cache, clock, log: scopedLogger(this.shell.logger, { source: sourceName }) };
      this.shell.addWork({
        description: `event source ${sourceName}`,
        run: (signal) =>
          runEventSource(source, { ...scope, signal }).catch((error: unknown) => {
            throw new Error(`event source ${sourceName} of controller ${name} failed: ${errorMessage(error)}`, {
              cause: error,
            });
          }),
      });
    }
    this.shell.onStopped(() => {
      for (const disconnect of connections) disconnect();
    });
  }

  #isCached(key: ObjectKey): boolean {
    const { name, namespace } = splitObjectKey(key);
    return this.#context.cache.get(this.#spec.definition, name, namespace) !== undefined;
  }

  async #reconcile(key: ObjectKey, stop: AbortSignal): Promise<ReconcileResult | void> {
    const pauseMs = this.#writes.pauseBefore(key);
    if (pauseMs !== undefined) return { requeueAfterMs: pauseMs, keepFailures: true };
    const { clock, tracer } = this.#context;
    const { name, definition } = this.#spec;
    const startMs = clock.monotonic();
    this.#measure.began();
    let outcome: ReconcileOutcome = { result: undefined };
    const deadline = new Deadline(stop, this.#spec.reconcileTimeoutMs, clock, key);
    try {
      const attributes = { "kubewright.controller": name, "k8s.object.key": key, "k8s.object.kind": definition.kind };
      const description = { name: `reconcile ${name}`, kind: SPAN_KIND.internal, attributes };
      const result = await withSpan(tracer, description, (span) => this.#perform(key, deadline.signal, span));
      outcome = { result, isLate: deadline.isExceeded };
      return result;
    } catch (error) {
      outcome = { error, isLate: deadline.isExceeded };
      throw error;
    } finally {
      deadline.end();
      this.#measure.ended(outcome, (clock.monotonic() - startMs) / 1000);
    }
  }

  async #perform(key: ObjectKey, signal: AbortSignal, span: Span | undefined): Promise<ReconcileResult | void> {
    const { definition, reconcile, finalizers, whileTerminating = false } = this.#spec;
    const { name, namespace } = splitObjectKey(key);
    const object = this.#context.cache.get(definition, name, namespace);
    const scope = this.#scope(key, object, signal);
    if (object === undefined) return this.#forget(scope);
    span?.setAttribute("k8s.object.uid", object.metadata.uid ?? "");
    if (object.metadata.deletionTimestamp === undefined) {
      const marked = await scope.client.addFinalizer(definition, object, ...finalizers.map((each) => each.name));
      return reconcile(this.#request(scope, marked));
    }
    const terminatingResult = whileTerminating ? await reconcile(this.#request(scope, object)) : undefined;
    const due = finalizers.filter((finalizer) => object.metadata.finalizers?.includes(finalizer.name));
    if (due.length === 0) return terminatingResult;
    let current = object;
    for (const finalizer of due) {
      const result = await finalizer.finalize(this.#request(scope, current));
      if (result?.requeueAfterMs !== undefined) return result;
      current = await scope.client.removeFinalizer(definition, current, finalizer.name);
    }
    return undefined;
  }

  async #forget(scope: RequestScope<Metrics>): Promise<void> {
    this.#writes.forget(scope.key);
    const { gone } = this.#spec;
    if (gone === undefined) return;
    const stillExists = await this.#stillExists(scope);
    try {
      await gone({ ...scope, stillExists });
    } catch (error) {
      scope.log.error({ err: errorMessage(error) }, "Forgetting an object failed");
    }
  }

  /** An object that is not in a narrowed cache may exist without being selected. */
  async #stillExists({ client, name, namespace }: RequestScope<Metrics>): Promise<boolean> {
    const { definition } = this.#spec;
    if (this.#context.caches.narrowingOf(definition) === undefined) return false;
    try {
      await client.get(metadataOnly(definition), name, namespace);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  #scope(key: ObjectKey, object: DeepReadonly<T> | undefined, signal: AbortSignal): RequestScope<Metrics> {
    const { operator, client, cache, caches, clock, metrics } = this.#context;
    const { name, namespace } = splitObjectKey(key);
    const uid = object?.metadata.uid ?? "";
    const writes = this.#writes;
    const operatorClient = new OperatorClient({
      client,
      cache,
      isCached: (definition) => caches.isComplete(definition),
      fieldManager: operator,
      signal,
      listener: {
        wrote: (definition, written) => writes.wrote(key, uid, definition, written),
        deleted: (definition, deletion) => writes.deleted(key, definition, deletion),
      },
    });
    const reconcileID = uuid(this.#ids);
    const log = scopedLogger(this.shell.logger, { ...(namespace === "" ? {} : { namespace }), name, reconcileID });
    const now = clock.now();
    return {
      key,
      name,
      namespace,
      client: operatorClient,
      cache,
      log,
      metrics: metrics as Metrics,
      signal,
      now,
      clock,
    };
  }

  #request(scope: RequestScope<Metrics>, object: DeepReadonly<T>): ReconcileRequest<T, Metrics> {
    const { definition } = this.#spec;
    const sink = this.shell.events;
    const events: ObjectEvents = {
      event: (...event) => sink.event(...event),
      normal: (reason, message, details) => sink.event(object, definition, "Normal", reason, message, details),
      warning: (reason, message, details) => sink.event(object, definition, "Warning", reason, message, details),
    };
    return { ...scope, object, events };
  }
}

/**
 * A signal that aborts with another signal, or when a reconcile has taken too long. After `end` it holds no timer or
 * listener.
 */
class Deadline {
  readonly signal: AbortSignal;
  readonly end: () => void;
  #isExceeded = false;

  constructor(stop: AbortSignal, limitMs: number | undefined, clock: ControllerContext["clock"], key: ObjectKey) {
    if (limitMs === undefined) {
      this.signal = stop;
      this.end = () => undefined;
      return;
    }
    const either = new AbortController();
    const onAbort = (): void => either.abort(stop.reason);
    const giveUp = (): void => {
      this.#isExceeded = true;
      either.abort(new Error(`reconciling ${key} took longer than ${limitMs / 1000} s`));
    };
    if (stop.aborted) onAbort();
    else stop.addEventListener("abort", onAbort, { once: true });
    const timer = clock.setTimer(limitMs, giveUp, { background: true });
    this.signal = either.signal;
    this.end = () => {
      timer.cancel();
      stop.removeEventListener("abort", onAbort);
    };
  }

  get isExceeded(): boolean {
    return this.#isExceeded;
  }
}

function rateLimiterOf<T extends KubernetesObject, Metrics>(
  { backoff = {} }: ControllerSpec<T, Metrics>,
  { clock }: ControllerContext,
) {
  const { baseDelayMs = 5, maxDelayMs = 1_000_000, rateLimit } = backoff;
  const ofItem = new ItemExponentialFailureRateLimiter<ObjectKey>({ baseDelayMs, maxDelayMs });
  return rateLimit === undefined
    ? ofItem
    : new MaxOfRateLimiter<ObjectKey>(ofItem, new BucketRateLimiter({ clock, ...rateLimit }));
}
