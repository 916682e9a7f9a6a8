import type { Client } from "@kubewright/client";
import { type Runnable, runAll, runInStages } from "@kubewright/controller";
import { type InformerError, type InformerFactoryOptions, withoutManagedFields } from "@kubewright/informer";
import { BucketInformers, type BucketWork, CLUSTER_BUCKET, ShardMember, memberMetrics } from "@kubewright/sharding";
import type { Transport } from "@kubewright/transport";

import { Cache } from "./cache.js";
import { Caches } from "./caches.js";
import type { ControllerContext } from "./controller-context.js";
import type { DeclaredController } from "./controller-declaration.js";

export interface ShardedOperatorOptions {
  readonly controllers: readonly DeclaredController[];
  /** Creates the tasks that run in one replica. */
  readonly tasks: (context: ControllerContext) => readonly Runnable[];
  /** Context of the whole run. Each bucket has its own client and caches. */
  readonly context: ControllerContext;
  readonly clientOf: (transport: Transport) => Client;
  /** For Leases, the assignment, and the caches. */
  readonly readClient: Client;
  readonly transport: Transport;
  readonly identity: string;
  readonly namespace: string;
  readonly resyncMs: number;
  readonly onInformer: InformerFactoryOptions["onInformer"];
  readonly onError: (error: InformerError) => void;
}

/** An operator whose replicas share its work by buckets of namespaces. */
export class ShardedOperator implements Runnable {
  readonly name = "sharing";
  readonly #options: ShardedOperatorOptions;
  readonly #informers: BucketInformers;
  readonly #member: ShardMember;

  constructor(options: ShardedOperatorOptions) {
    this.#options = options;
    const { context, readClient, transport, identity, namespace, resyncMs, onError } = options;
    const { clock, random, logger, operator } = context;
    this.#informers = new BucketInformers({
      client: readClient,
      clock,
      random: random.fork("informers of buckets"),
      transform: withoutManagedFields,
      resyncMs,
      informerName: operator,
      metrics: context.controllerMetrics.informers,
      onError,
    });
    this.#member = new ShardMember({
      client: readClient,
      transport,
      clock,
      random: random.fork("sharding"),
      namespace,
      group: operator.slice(0, 63),
      identity,
      metrics: memberMetrics(context.controllerMetrics),
      logger,
      runBucket: (work, signal) =>
        work.bucket === CLUSTER_BUCKET ? this.#cluster(work, signal) : this.#bucket(work, signal),
    });
  }

  /** Whether the Lease is valid, and the caches of all buckets are filled. */
  get isReady(): boolean {
    return this.#member.isReady;
  }

  /** @throws MemberError when other members have fenced this process. */
  async run(signal: AbortSignal): Promise<void> {
    const reading = new AbortController();
    const read = this.#informers.run(reading.signal);
    try {
      await this.#member.run(signal);
    } finally {
      reading.abort(new Error("this replica has ended"));
      await read;
    }
  }

  /** Runs the controllers of namespaced resources, for the namespaces of one bucket. */
  #bucket(work: BucketWork, signal: AbortSignal): Promise<void> {
    const informers = this.#informers.forBucket(work.bucket);
    const caches = this.#caches(work, informers);
    return this.#run(work, caches, { isNamespaced: true, tasks: false }, signal);
  }

  /** Runs the controllers of cluster-scoped resources, and tasks, with caches of all namespaces. */
  #cluster(work: BucketWork, signal: AbortSignal): Promise<void> {
    return this.#run(work, this.#caches(work, undefined), { isNamespaced: false, tasks: true }, signal);
  }

  #caches(work: BucketWork, informers: ReturnType<BucketInformers["forBucket"]> | undefined): Caches {
    const { context, readClient, resyncMs, onError, onInformer } = this.#options;
    const { clock, random } = context;
    return new Caches({
      client: readClient,
      clock,
      random: random.fork(`caches of ${work.name} at ${work.epoch}`),
      namespaces: [],
      onError,
      onInformer,
      resyncMs,
      informers,
    });
  }

  async #run(
    work: BucketWork,
    caches: Caches,
    { isNamespaced, tasks }: { readonly isNamespaced: boolean; readonly tasks: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { controllers, context } = this.#options;
    const chosen = controllers.filter(({ resources }) => {
      const primary = resources.find(({ role }) => role === "for");
      return (primary?.definition.namespaced ?? false) === isNamespaced;
    });
    for (const { resources } of chosen)
      for (const { role, definition } of resources) if (role !== "writes") caches.add(definition);
    const own: ControllerContext = {
      ...context,
      client: this.#options.clientOf(work.transport),
      caches,
      cache: new Cache(caches),
      random: context.random.fork(`bucket ${work.name} at ${work.epoch}`),
    };
    const built = [...chosen.map((controller) => controller.build(own)), ...(tasks ? this.#options.tasks(own) : [])];
    const opened: Runnable = {
      name: `bucket ${work.name}`,
      run: async (stop) => {
        const isFilled = await caches.waitForSync(Infinity, stop).then(
          () => true,
          () => false,
        );
        if (!isFilled) return;
        work.opened();
        await runAll([...built, untilAborted], stop);
      },
    };
    await runInStages([[opened], caches.runnables], signal);
  }
}

/** Keeps a bucket without controllers owned until it is released. */
const untilAborted: Runnable = {
  name: "until released",
  run: (signal) =>
    new Promise((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }),
    ),
};
