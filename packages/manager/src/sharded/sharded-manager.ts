import type { Client, ReaderFactory } from "@kubewright/client";
import type { Clock, Logger, Random } from "@kubewright/clock";
import { type ControllerDeps, type Runnable, finishWrites, runInStages } from "@kubewright/controller";
import { InformerFactory, type InformerFactoryOptions } from "@kubewright/informer";
import {
  BucketInformers,
  type BucketInformersOptions,
  type BucketWork,
  CLUSTER_BUCKET,
  LeaseLostError,
  ShardMember,
  type ShardMemberOptions,
  afterCacheSync,
} from "@kubewright/sharding";
import type { Transport } from "@kubewright/transport";

import type { BucketRun, ManagedContext, ManagedController } from "../managed-controller.js";
import { type LeaderOptions, LeadershipLostError, runAsLeader } from "../run-as-leader.js";

type OnInformer = NonNullable<InformerFactoryOptions["onInformer"]>;

export interface ShardedManagerOptions<Context extends ManagedContext> {
  /** Their names must be unique. */
  readonly controllers: readonly ManagedController<Context>[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Transport of the controllers' writes. Each bucket has it behind its own fence. */
  readonly transport: Transport;
  /** For the Leases and the assignment. */
  readonly memberClient: Client;
  /** For the caches. */
  readonly readClient: ReaderFactory;
  /** Identity, place and timing of this member of the group. */
  readonly member: Pick<
    ShardMemberOptions,
    "identity" | "namespace" | "group" | "layout" | "version" | "timing" | "blockReason" | "metrics"
  >;
  /** Settings of the caches. */
  readonly informers: Pick<BucketInformersOptions, "transform" | "resyncMs" | "informerName" | "metrics" | "onError">;
  /** Called with every informer and the controllers that use it, before any other code can. Default: no call. */
  readonly onInformer?: ((...args: [...Parameters<OnInformer>, BucketUse<Context>]) => void) | undefined;
  /** Called with each controller that was built for a bucket. Default: no call. */
  readonly onController?: ((runnable: Runnable, run: BucketRun) => void) | undefined;
  /** The Lease that the owner of the bucket `cluster` must also hold. Default: none is needed. */
  readonly election?: ((run: BucketRun) => LeaderOptions) | undefined;
  /** Creates the dependencies of a controller for one bucket, except its caches. */
  readonly depsFor: (
    controller: ManagedController<Context>,
    run: BucketRun,
  ) => ControllerDeps & Omit<Context, keyof ManagedContext>;
}

/** The controllers that work for a bucket. */
export interface BucketUse<Context extends ManagedContext> {
  readonly controllers: readonly ManagedController<Context>[];
  readonly run: BucketRun;
}

/**
 * A manager whose replicas share the work by buckets of namespaces. For each bucket that it owns, it runs its own set
 * of controllers over caches that are filled first. At the owner of the bucket `cluster` it runs what cannot be shared.
 */
export class ShardedManager<Context extends ManagedContext> implements Runnable {
  readonly name = "sharding";
  /** State of this member, for health checks and status. */
  readonly member: ShardMember;
  readonly informers: BucketInformers;
  readonly #options: ShardedManagerOptions<Context>;

  /** @throws Error as {@link ShardMember} does. */
  constructor(options: ShardedManagerOptions<Context>) {
    const { controllers, clock, random, logger, transport, memberClient, readClient, member, informers } = options;
    this.#options = options;
    this.informers = new BucketInformers({
      ...informers,
      client: readClient,
      clock,
      random: random.fork("informers of buckets"),
      layout: member.layout,
    });
    this.member = new ShardMember({
      ...member,
      client: memberClient,
      transport,
      clock,
      random: random.fork("sharding"),
      annotations: () => Object.assign({}, ...controllers.map((controller) => controller.annotations?.())),
      runBucket: (work, signal) => this.#runBucket(work, signal),
      logger,
    });
  }

  /**
   * Works until the signal aborts, then drains and releases all buckets.
   *
   * @throws MemberError when other members have fenced this process, which must then exit.
   */
  async run(signal: AbortSignal): Promise<void> {
    const reading = new AbortController();
    const read = this.informers.run(reading.signal);
    try {
      await this.member.run(signal);
    } finally {
      reading.abort(new Error("this replica has ended"));
      await read;
    }
  }

  #runBucket(work: BucketWork, signal: AbortSignal): Promise<void> {
    const run: BucketRun = {
      work,
      signal,
      transport: finishWrites(work.transport),
      annotationsOfOthers: () => this.member.annotationsOfOthers,
    };
    const { election } = this.#options;
    return work.bucket === CLUSTER_BUCKET && election !== undefined
      ? runAsLeader(election(run), (leading) => this.#runControllers(run, leading), signal).catch(bucketError)
      : this.#runControllers(run, signal);
  }

  async #runControllers(run: BucketRun, signal: AbortSignal): Promise<void> {
    const { controllers, depsFor, onInformer, onController } = this.#options;
    const chosen = controllers.flatMap((controller) => {
      const build = builderFor(controller, run.work);
      return build === undefined ? [] : [{ controller, build }];
    });
    const use = { controllers: chosen.map(({ controller }) => controller), run };
    const informers = this.#informersFor(
      run.work,
      onInformer && ((informer, definition) => onInformer(informer, definition, use)),
    );
    const runnables = chosen.map(({ controller, build }) =>
      build({ ...depsFor(controller, run), informers, bucket: run } as unknown as Context),
    );
    for (const runnable of runnables) onController?.(runnable, run);
    await runInStages([afterCacheSync(runnables, informers, run.work), [informers]], signal);
  }

  /** The bucket `cluster` has caches of its own, of all namespaces. */
  #informersFor({ bucket, epoch }: BucketWork, onInformer: OnInformer | undefined): InformerFactory {
    if (bucket !== CLUSTER_BUCKET) return this.informers.forBucket(bucket, onInformer);
    const { clock, random, readClient, informers } = this.#options;
    const { transform, resyncMs, onError } = informers;
    return new InformerFactory({
      client: readClient,
      clock,
      random: random.fork(`informers of bucket cluster at ${epoch}`),
      transform,
      resyncMs,
      onError,
      onInformer,
      consistentFirstList: true,
    });
  }
}

/** A bucket whose owner has lost the Lease of leader election has not failed. */
function bucketError(error: unknown): never {
  throw error instanceof LeadershipLostError ? new LeaseLostError(error.message) : error;
}

/** What of a controller runs for a bucket; `undefined`: nothing. */
function builderFor<Context extends ManagedContext>(
  { sharing, build, buildClusterWide }: ManagedController<Context>,
  { bucket, part }: Pick<BucketWork, "bucket" | "part">,
): ManagedController<Context>["buildClusterWide"] {
  if (bucket === CLUSTER_BUCKET) return sharing === "none" ? build : buildClusterWide;
  if (sharing === "none") return undefined;
  // Part 0 also has everything of its namespace that is not shared by objects.
  return part === undefined || part.index === 0 || sharing === "objects" ? build : undefined;
}
