import { Client } from "@kubewright/client";
import { type Logger, type Random, StoppableClock } from "@kubewright/clock";
import { type Runnable, finishWrites, runAll, runInStages } from "@kubewright/controller";
import type { InformerFactoryOptions } from "@kubewright/informer";
import { PodGCController, TerminatedPodCollector, TerminatedPodCounts } from "@kubewright/podgc";
import {
  BucketInformers,
  type BucketWork,
  CLUSTER_BUCKET,
  ShardMember,
  type ShardStatus,
  afterCacheSync,
  untilReleased,
} from "@kubewright/sharding";
import type { Transport } from "@kubewright/transport";

import type { ComponentContext } from "./component-context.js";
import type { FaultyControllerName } from "./faulty-controller-name.js";
import type { Network, Sender } from "./network.js";
import type { ComponentSpec } from "./component-spec.js";
import type { ProcessClock } from "./process-clock.js";
import { SHARDING } from "./sharded-manager.js";

/** Component name of the informers that fill the caches of all controllers. */
const INFORMERS = "informers";

const PODGC = "pod-garbage-collector-controller";
/** Controllers that need the whole cluster. */
const CLUSTER_WIDE: ReadonlySet<FaultyControllerName> = new Set<FaultyControllerName>([
  "garbage-collector-controller",
  "node-lifecycle-controller",
]);

export interface ShardedIncarnationOptions {
  /** Name of the controller manager. */
  readonly process: string;
  readonly incarnation: number;
  /** Clock of the machine that it runs on. */
  readonly machineClock: ProcessClock;
  readonly random: Random;
  readonly logger: Logger;
  readonly network: Network;
  readonly controllers: readonly FaultyControllerName[];
  readonly contextFor: (place: ComponentSpec) => ComponentContext;
  readonly make: (name: FaultyControllerName, context: ComponentContext) => Runnable;
  /**
   * Returns the next number of a bucket run: how often the process has owned a bucket, over all its incarnations. It is
   * the incarnation of the bucket's controllers.
   */
  readonly nextBucketRun: () => number;
  /** Called for every informer of every controller. */
  readonly onInformer: (...args: [...Parameters<NonNullable<InformerFactoryOptions["onInformer"]>>, Sender]) => void;
}

/**
 * One incarnation of a sharded controller manager, composed like kubewright-controller-manager with `--sharding`.
 * Unlike that, it needs no leader-election Lease for cluster-wide controllers, because all managers of this cluster are
 * sharded.
 */
export class ShardedIncarnation {
  readonly #options: ShardedIncarnationOptions;
  readonly #clock: StoppableClock;
  readonly #member: ShardMember;
  readonly #informers: BucketInformers;
  readonly #terminatedPods: TerminatedPodCounts;
  /** Transports of controllers to the API server by user agent, behind the write fences. */
  readonly #links = new Map<string, Transport>();
  readonly #bucketRuns = new Set<number>();
  readonly #killed = Promise.withResolvers<void>();
  #isAlive = true;
  #leads = false;

  constructor(options: ShardedIncarnationOptions) {
    this.#options = options;
    const { process, incarnation, machineClock, random, logger, controllers } = options;
    const clock = new StoppableClock(machineClock);
    this.#clock = clock;
    const clientOf = (component: string, onBehalfOf: readonly string[] = []): Client =>
      new Client({
        transport: this.#whileRunning(this.#link(component, { incarnation, onBehalfOf })),
        clock,
        userAgent: component,
      });
    this.#informers = new BucketInformers({
      client: clientOf(
        INFORMERS,
        controllers.filter((name) => !CLUSTER_WIDE.has(name)),
      ),
      clock,
      random: random.fork("informers"),
      onError: (error) => logger.debug({ err: error }, "Informer failed"),
    });
    this.#terminatedPods = new TerminatedPodCounts(() => this.#member.annotationsOfOthers);
    this.#member = new ShardMember({
      client: clientOf(SHARDING),
      transport: async (request) => {
        // From here on the request is on its way.
        request.beforeSend?.();
        return this.#links.get(String(request.headers["user-agent"]))!(request);
      },
      clock,
      random: random.fork("sharding"),
      namespace: "kube-system",
      identity: `${process}-${incarnation}`,
      annotations: () => this.#terminatedPods.annotations(),
      runBucket: (work, signal) => this.#runBucket(work, signal),
      logger,
    });
  }

  get leads(): boolean {
    return this.#leads && this.#isAlive;
  }

  get status(): ShardStatus | undefined {
    return this.#isAlive ? this.#member.status() : undefined;
  }

  /**
   * Returns whether a controller still works for the bucket of its incarnation, or without an incarnation, for any
   * bucket.
   */
  runs({ incarnation }: Partial<Sender>): boolean {
    return this.#isAlive && (incarnation === undefined || this.#bucketRuns.has(incarnation));
  }

  /**
   * Works until the signal aborts and all buckets are released, or until it is killed. @throws MemberError when other
   * members regard it as expired.
   */
  async run(signal: AbortSignal): Promise<void> {
    const stopInformers = new AbortController();
    const informersRun = this.#informers.run(stopInformers.signal);
    try {
      await Promise.race([this.#member.run(signal), this.#killed.promise]);
    } finally {
      // A killed process stops where it is.
      if (this.#isAlive) {
        stopInformers.abort(new Error("this manager has ended"));
        await Promise.race([informersRun, this.#killed.promise]);
      }
    }
  }

  /** Prevents any further effect of the process. */
  kill(): void {
    this.#isAlive = false;
    this.#bucketRuns.clear();
    this.#clock.stop();
    this.#killed.resolve();
  }

  async #runBucket(work: BucketWork, signal: AbortSignal): Promise<void> {
    const bucketRun = this.#options.nextBucketRun();
    this.#bucketRuns.add(bucketRun);
    signal.addEventListener("abort", () => this.#bucketRuns.delete(bucketRun), { once: true });
    try {
      await (work.bucket === CLUSTER_BUCKET
        ? this.#runClusterWide(work, bucketRun, signal)
        : this.#runNamespaces(work, bucketRun, signal));
    } finally {
      for (const name of this.#options.controllers) this.#links.delete(userAgentOf(name, bucketRun));
    }
  }

  async #runNamespaces(work: BucketWork, bucketRun: number, signal: AbortSignal): Promise<void> {
    const { controllers, make, onInformer } = this.#options;
    const names = controllers.filter((name) => !CLUSTER_WIDE.has(name));
    const informers = this.#informers.forBucket(work.bucket, (informer, definition) => {
      for (const name of names) onInformer(informer, definition, this.#sender(name, work, bucketRun));
    });
    const controllersOfBucket = names.map((name) => {
      const context = { ...this.#context(name, work, bucketRun), informers, terminatedPodGCThreshold: 0 };
      const controller = make(name, context);
      if (controller instanceof PodGCController) this.#terminatedPods.add(work.bucket, controller, signal);
      return controller;
    });
    await runInStages([afterCacheSync(controllersOfBucket, informers, work), [informers]], signal);
  }

  async #runClusterWide(work: BucketWork, bucketRun: number, signal: AbortSignal): Promise<void> {
    const { controllers, make } = this.#options;
    const runnables: Runnable[] = [];
    for (const name of controllers) {
      if (name !== PODGC && !CLUSTER_WIDE.has(name)) continue;
      const context = this.#context(name, work, bucketRun);
      if (name === PODGC) runnables.push(this.#terminatedPodCollector(context));
      else runnables.push(make(name, context), { name: "informers", run: (stop) => context.informers.run(stop) });
    }
    work.opened();
    this.#leads = true;
    try {
      await runAll([...runnables, untilReleased], signal);
    } finally {
      this.#leads = false;
    }
  }

  #terminatedPodCollector(context: ComponentContext): TerminatedPodCollector {
    const { onDecision, terminatedPodGCThreshold, ...deps } = context;
    return new TerminatedPodCollector({
      ...deps,
      ...(terminatedPodGCThreshold === undefined ? {} : { terminatedPodThreshold: terminatedPodGCThreshold }),
      countTerminated: () => this.#terminatedPods.clusterTotal(),
      onDecision: (decision) => onDecision({ controller: PODGC, decision }),
    });
  }

  #context(name: FaultyControllerName, work: BucketWork, bucketRun: number): ComponentContext {
    const { process, contextFor } = this.#options;
    const sender = this.#sender(name, work, bucketRun);
    const userAgent = userAgentOf(name, bucketRun);
    this.#links.set(userAgent, this.#link(name, sender));
    return contextFor({
      name: userAgent,
      label: `${process}/${name}/${bucketRun}`,
      sender,
      clock: this.#clock,
      transport: this.#whileRunning(finishWrites(work.transport)),
      alive: () => this.#isAlive,
    });
  }

  #sender(component: string, { bucket }: BucketWork, bucketRun: number): Sender {
    return { component, process: this.#options.process, incarnation: bucketRun, bucket };
  }

  #link(component: string, sender: Partial<Sender> & Pick<Sender, "incarnation">): Transport {
    const { network, process, machineClock } = this.#options;
    const resumed = (): Promise<void> | undefined => machineClock.resumed;
    return network.link(component, () => this.#isAlive, { ...sender, process, resumed, pausesRequests: false });
  }

  /** Delays requests of a paused process, and so the check whether it may write, until it resumes. */
  #whileRunning(transport: Transport): Transport {
    const { machineClock } = this.#options;
    return async (request) => {
      while (machineClock.resumed !== undefined) await machineClock.resumed;
      return transport(request);
    };
  }
}

/** Returns the user agent that identifies a controller and its bucket run. */
function userAgentOf(controller: string, bucketRun: number): string {
  return `${controller} ${bucketRun}`;
}
