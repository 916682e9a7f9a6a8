import { Client } from "@kubewright/client";
import { type Logger, type Random, StoppableClock } from "@kubewright/clock";
import type { InformerFactoryOptions } from "@kubewright/informer";
import type { BucketRun, ManagedController } from "@kubewright/manager";
import type { KubernetesContext } from "@kubewright/manager/kubernetes";
import { ShardedManager } from "@kubewright/manager/sharded";
import { BucketLayout, CLUSTER_BUCKET, type NamespaceSplits, type ShardStatus } from "@kubewright/sharding";
import type { Transport } from "@kubewright/transport";

import type { ComponentSpec } from "./component-spec.js";
import type { Network, Sender } from "./network.js";
import type { ProcessClock } from "./process-clock.js";
import { SHARDING } from "./sharded-process.js";

/** Component name of the informers that fill the caches of all controllers. */
const INFORMERS = "informers";
const NAMESPACE = "kube-system";
const LEASE_NAME = "kubewright-controller-manager";

export interface ShardedIncarnationOptions {
  /** Name of the controller manager. */
  readonly process: string;
  readonly incarnation: number;
  /** Clock of the machine that it runs on. */
  readonly machineClock: ProcessClock;
  readonly random: Random;
  readonly logger: Logger;
  readonly network: Network;
  readonly splitNamespaces: NamespaceSplits;
  readonly controllers: readonly ManagedController<KubernetesContext>[];
  readonly contextFor: (spec: ComponentSpec) => KubernetesContext;
  /**
   * Returns the next number of a bucket run: how often the process has owned a bucket, over all its incarnations. It is
   * the incarnation of the bucket's controllers.
   */
  readonly nextBucketRun: () => number;
  /** Called for every informer of every controller. */
  readonly onInformer: (...args: [...Parameters<NonNullable<InformerFactoryOptions["onInformer"]>>, Sender]) => void;
}

/** One incarnation of a sharded controller manager: a `ShardedManager` that can be killed. */
export class ShardedIncarnation {
  readonly #options: ShardedIncarnationOptions;
  readonly #clock: StoppableClock;
  readonly #manager: ShardedManager<KubernetesContext>;
  /** Transports of controllers to the API server by user agent, behind the write fences. */
  readonly #links = new Map<string, Transport>();
  /** Numbers of bucket runs, and those of them that have not been stopped. */
  readonly #numbers = new WeakMap<BucketRun, number>();
  readonly #bucketRuns = new Set<number>();
  readonly #killed = Promise.withResolvers<void>();
  #isAlive = true;

  constructor(options: ShardedIncarnationOptions) {
    this.#options = options;
    const { process, incarnation, machineClock, random, logger, splitNamespaces, controllers, onInformer } = options;
    const clock = new StoppableClock(machineClock);
    this.#clock = clock;
    const clientOf = (component: string, onBehalfOf: readonly string[] = []): Client =>
      new Client({
        transport: this.#whileRunning(this.#link(component, { incarnation, onBehalfOf })),
        clock,
        userAgent: component,
      });
    const identity = `${process}-${incarnation}`;
    const memberClient = clientOf(SHARDING);
    this.#manager = new ShardedManager<KubernetesContext>({
      controllers,
      clock,
      random,
      logger,
      transport: async (request) => {
        // From here on the request is on its way.
        request.beforeSend?.();
        return this.#links.get(String(request.headers["user-agent"]))!(request);
      },
      memberClient,
      readClient: clientOf(
        INFORMERS,
        controllers.filter(({ sharing }) => sharing !== "none").map(({ name }) => name),
      ),
      member: { namespace: NAMESPACE, identity, layout: new BucketLayout(splitNamespaces) },
      informers: { onError: (error) => logger.debug({ err: error }, "Informer failed") },
      onInformer: (informer, definition, use) => {
        for (const { name } of use.controllers) onInformer(informer, definition, this.#sender(name, use.run));
      },
      election: ({ work }) => ({
        client: memberClient,
        clock,
        random: random.fork(`leader at ${work.epoch}`),
        namespace: NAMESPACE,
        name: LEASE_NAME,
        identity,
        logger,
      }),
      depsFor: ({ name }, run) => this.#depsFor(name, run),
    });
  }

  /** Whether this process works for the bucket `cluster`, which only the leader does. */
  get leads(): boolean {
    return this.status?.buckets[CLUSTER_BUCKET]?.state === "active";
  }

  get status(): ShardStatus | undefined {
    return this.#isAlive ? this.#manager.member.status() : undefined;
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
    await Promise.race([this.#manager.run(signal), this.#killed.promise]);
  }

  /** Prevents any further effect of the process. */
  kill(): void {
    this.#isAlive = false;
    this.#bucketRuns.clear();
    this.#clock.stop();
    this.#killed.resolve();
  }

  #depsFor(name: string, run: BucketRun): KubernetesContext {
    const { process, contextFor } = this.#options;
    const sender = this.#sender(name, run);
    const userAgent = `${name} ${sender.incarnation}`;
    this.#links.set(userAgent, this.#link(name, sender));
    return contextFor({
      name: userAgent,
      label: `${process}/${name}/${sender.incarnation}`,
      sender,
      clock: this.#clock,
      transport: this.#whileRunning(run.transport),
      alive: () => this.#isAlive,
    });
  }

  #sender(component: string, run: BucketRun): Sender {
    return {
      component,
      process: this.#options.process,
      incarnation: this.#numberOf(run),
      bucket: run.work.bucket,
    };
  }

  #numberOf(run: BucketRun): number {
    const known = this.#numbers.get(run);
    if (known !== undefined) return known;
    const number = this.#options.nextBucketRun();
    this.#numbers.set(run, number);
    this.#bucketRuns.add(number);
    run.signal.addEventListener("abort", () => this.#bucketRuns.delete(number), { once: true });
    return number;
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
