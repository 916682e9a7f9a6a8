import { type ConfigMap, type KubernetesObject, configMaps, leases, namespaces } from "@kubewright/api";
import { type ApiServer, type StoreSnapshot, createApiServer } from "@kubewright/apiserver";
import { Client, type ResourceClient } from "@kubewright/client";
import { type Clock, type Random, SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import { type Assignment, parseAssignment } from "../src/assignment.js";
import { bucketName } from "../src/bucket.js";
import { type BucketLayout, unsplitLayout } from "../src/layout.js";
import type { BucketWork } from "../src/owned-bucket.js";
import { ShardMember } from "../src/shard-member.js";
import type { MemberMetrics } from "../src/shard-metrics.js";
import type { ShardTiming } from "../src/timing.js";
import { ProcessClock } from "./process-clock.js";

const SYSTEM = "kube-system";
const BUCKET_PREFIX = "bucket-";
const ASSIGNMENT_PATH = `/api/v1/namespaces/${SYSTEM}/configmaps/kubewright-assignment`;
/** Interval at which a new slot is due in every bucket. */
const SLOT_MS = 10_000;
const POLL_MS = 1_000;
/** Mean latency of a request of a bucket's work: long enough for faults to happen in transit. */
const LATENCY_MS = 40;
/** How far the watch cache lags behind the store. */
const LAG_MS = 3_000;

export interface WorldOptions {
  readonly seed?: number;
  readonly timing?: Partial<ShardTiming>;
  /** New owners start with a list from the lagging watch cache. A defect that tests must detect. */
  readonly listsAnyVersion?: boolean;
  readonly metrics?: (identity: string) => MemberMetrics | undefined;
  /** Members and buckets whose work never syncs. */
  readonly isStuck?: (identity: string, bucket: number) => boolean;
  /** Members and buckets whose work ends immediately with the error that this returns. */
  readonly failure?: (identity: string, bucket: number) => Error | undefined;
  /** Why no member may acquire buckets. */
  readonly blockReason?: () => string | undefined;
  /** The audited buckets, and the layout of members without their own. Default: no namespace is split. */
  readonly layout?: BucketLayout;
}

export interface Fault {
  /** Requests fail before they reach the server, and watches end. */
  down: boolean;
  /** Fraction of writes whose responses are lost. */
  lostAnswers: number;
  /** Additional latency of writes of buckets' work, even if the client has aborted them. */
  lateMs: number;
  /** How long writes of buckets' work are queued in the process for a connection. */
  queueMs: number;
  /** Watches stay open and deliver nothing. */
  areWatchesSilent: boolean;
}

export interface ProcessHandle {
  readonly identity: string;
  readonly clock: ProcessClock;
  readonly member: ShardMember;
  readonly fault: Fault;
  /** How the process ended: `undefined` while it runs, `""` after a clean shutdown, otherwise the error message. */
  ended(): string | undefined;
  /** Stops the process, as SIGTERM does. */
  stop(): Promise<void>;
}

/**
 * Processes that share work over one API server in simulated time, with an audit of their writes. The work of each
 * bucket is a minimal controller: for every slot of 10 s it creates one object with a generated name, unless its cache
 * has one.
 */
export class ShardWorld {
  readonly clock = new SimulatedClock("2026-01-01T00:00:00Z");
  server: ApiServer;
  readonly client: Client;
  readonly processes: ProcessHandle[] = [];
  /** Violated invariants. */
  readonly violations: string[] = [];
  /** Successive owners of each bucket. */
  readonly history: string[][];
  readonly #layout: BucketLayout;
  readonly #options: WorldOptions;
  readonly random: Random;
  readonly #slots = new Map<string, string>();
  /** resourceVersions of the store with their times, starting at most {@link LAG_MS} ago. */
  readonly #versions: { readonly atMs: number; readonly resourceVersion: string }[] = [];
  #assignment: Assignment | undefined;
  /** The highest epoch of each bucket in any assignment. */
  readonly #epochs = new Map<number, number>();
  #processCount = 0;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.#layout = options.layout ?? unsplitLayout;
    this.history = this.#layout.buckets.map(() => []);
    this.random = seededRandom(options.seed ?? 1);
    this.server = createApiServer({ clock: this.clock, random: this.random.fork("server"), trackFields: false });
    this.client = new Client({ transport: (request) => this.server.transport(request), clock: this.clock });
  }

  async start(count: number): Promise<void> {
    const created = this.client.resource(namespaces);
    for (const bucket of this.#layout.buckets) await created.create({ metadata: { name: namespaceOf(bucket) } });
    for (let index = 0; index < count; index++) this.add();
  }

  get assignment(): Assignment | undefined {
    return this.#assignment;
  }

  /** Number of completed slots. */
  get doneSlots(): number {
    return this.#slots.size;
  }

  /** Starts a process. */
  add(rate = 1, layout = this.#layout): ProcessHandle {
    const identity = `m${++this.#processCount}`;
    const clock = new ProcessClock(this.clock, rate);
    const fault: Fault = { down: false, lostAnswers: 0, lateMs: 0, queueMs: 0, areWatchesSilent: false };
    const random = this.random.fork(identity);
    const transport = this.#link(identity, clock, fault, random.fork("link"));
    const stop = new AbortController();
    const member = new ShardMember({
      client: new Client({ transport, clock, userAgent: identity }),
      transport,
      clock,
      random,
      namespace: SYSTEM,
      identity,
      layout,
      blockReason: this.#options.blockReason,
      runBucket: (work, signal) => this.#work(work, signal, identity, clock),
      logger: silentLogger,
      metrics: this.#options.metrics?.(identity),
      ...(this.#options.timing === undefined ? {} : { timing: this.#options.timing }),
    });
    let ended: string | undefined;
    const running = member.run(stop.signal).then(
      () => (ended = ""),
      (error: unknown) => {
        ended = (error as Error).message;
        // The program around a member exits with it.
        clock.kill();
      },
    );
    const handle: ProcessHandle = {
      identity,
      clock,
      member,
      fault,
      ended: () => ended,
      stop: async () => {
        stop.abort();
        await running;
      },
    };
    this.processes.push(handle);
    return handle;
  }

  kill(process: ProcessHandle): void {
    process.clock.kill();
  }

  liveProcesses(): ProcessHandle[] {
    return this.processes.filter((process) => !process.clock.isDead && process.ended() === undefined);
  }

  owners(): readonly string[] {
    return this.#assignment?.entries.map(({ owner }) => owner) ?? [];
  }

  /** Number of buckets by identity, of members that own any. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const owner of this.owners()) counts[owner] = (counts[owner] ?? 0) + 1;
    return counts;
  }

  /** Buckets without a completed slot in the last `sinceMs`. */
  idleBuckets(sinceMs: number): readonly string[] {
    const from = Math.floor((this.clock.now() - sinceMs) / SLOT_MS);
    const to = Math.floor(this.clock.now() / SLOT_MS) - 1;
    return this.#layout.buckets
      .filter((bucket) => {
        for (let slot = from; slot <= to; slot++) if (this.#slots.has(`${namespaceOf(bucket)}/${slot}`)) return false;
        return true;
      })
      .map((bucket) => this.#layout.nameOf(bucket));
  }

  async leaseNames(): Promise<(string | undefined)[]> {
    const { items } = await this.client.resource(leases).list({ namespace: SYSTEM });
    return items.map(({ metadata }) => metadata.name).filter((name) => name?.startsWith("kubewright-member-"));
  }

  async deleteAssignment(): Promise<void> {
    await this.client.resource(configMaps).delete("kubewright-assignment", { namespace: SYSTEM });
    this.#assignment = undefined;
    this.#epochs.clear();
  }

  async deleteLease(identity: string): Promise<void> {
    await this.client.resource(leases).delete(`kubewright-member-${identity}`, { namespace: SYSTEM });
  }

  /** Replaces the store by a snapshot, as restoring a backup does. */
  async restore(snapshot: StoreSnapshot): Promise<void> {
    const before = this.server;
    const random = this.random.fork("restored");
    this.server = createApiServer({ clock: this.clock, random, trackFields: false, restore: snapshot });
    this.#assignment = undefined;
    this.#epochs.clear();
    await before.close();
    const stored = await this.client.resource(configMaps).get("kubewright-assignment", { namespace: SYSTEM });
    this.#recordAssignment(parseAssignment(stored.data!["assignment"]!));
    this.#slots.clear();
  }

  /** Transport between a process and the server, with its faults. */
  #link(identity: string, clock: ProcessClock, fault: Fault, random: Random): Transport {
    return async (request) => {
      if (fault.down) throw new Error("connect ECONNREFUSED");
      const isWrite = request.method !== "GET";
      const isWork = isWrite && request.path.includes(BUCKET_PREFIX);
      if (isWork && fault.queueMs > 0) await waitForConnection(request, clock, fault.queueMs);
      const latencyMs = LATENCY_MS * (0.5 + random.next()) + (isWork ? fault.lateMs : 0);
      await this.clock.sleep(latencyMs);
      if (fault.down && fault.lateMs === 0) throw new Error("read ECONNRESET");
      // A request in transit arrives even if its sender has ended.
      const response = await this.#serve(identity, request);
      if (isWrite && random.next() < fault.lostAnswers) throw new Error("read ECONNRESET");
      await clock.untilRunning();
      return { ...response, body: pausableBody(response.body, clock, fault) };
    };
  }

  async #serve(identity: string, request: ApiRequest): Promise<ApiResponse> {
    const response = await this.server.transport({ ...request, path: this.#withCacheLag(request.path) });
    if (request.method === "GET" || response.status > 201 || response.body.type !== "decoded") return response;
    const object = response.body.value as KubernetesObject;
    const [path = ""] = request.path.split("?");
    if (path === ASSIGNMENT_PATH || object.metadata?.name === "kubewright-assignment")
      this.#recordAssignment(parseAssignment((object as ConfigMap).data!["assignment"]!));
    else if (path.endsWith("/configmaps")) this.#audit(identity, object);
    return response;
  }

  /** A request that accepts any version gets the state of {@link LAG_MS} ago. */
  #withCacheLag(path: string): string {
    const nowMs = this.clock.monotonic();
    this.#versions.push({ atMs: nowMs, resourceVersion: this.server.resourceVersion });
    while (this.#versions.length > 1 && this.#versions[1]!.atMs <= nowMs - LAG_MS) this.#versions.shift();
    if (!path.includes(BUCKET_PREFIX) || !path.includes("resourceVersion=0")) return path;
    const { resourceVersion } = this.#versions[0]!;
    return path.replace("resourceVersion=0", `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`);
  }

  #recordAssignment(next: Assignment): void {
    for (const [bucket, now] of next.entries.entries()) {
      const before = this.#assignment?.entries[bucket];
      if (now.owner !== "" && (before?.owner !== now.owner || before.epoch !== now.epoch))
        this.history[bucket]?.push(now.owner);
      if (
        before !== undefined &&
        now.owner !== "" &&
        before.owner !== now.owner &&
        now.epoch <= this.#lastEpoch(bucket)
      )
        this.violations.push(`${now.owner} took ${bucketName(bucket)} with epoch ${now.epoch} again`);
      if (before !== undefined && before.owner !== "" && now.owner !== "" && before.owner !== now.owner) {
        const isAlive = this.liveProcesses().some(({ identity, clock }) => identity === before.owner && !clock.isDead);
        const lease = this.processes.find(({ identity }) => identity === before.owner);
        if (isAlive && lease?.member.isReady === true)
          this.violations.push(`${now.owner} took ${bucketName(bucket)} from ${before.owner}, which is live`);
      }
    }
    this.#assignment = next;
    for (const [bucket, { epoch }] of next.entries.entries())
      this.#epochs.set(bucket, Math.max(epoch, this.#lastEpoch(bucket)));
  }

  #lastEpoch(bucket: number): number {
    return this.#epochs.get(bucket) ?? 0;
  }

  /** Checks that each bucket has one writer: the owner in the assignment at the moment of the write. */
  #audit(identity: string, { metadata, data }: ConfigMap): void {
    const at = `${(this.clock.monotonic() / 1000).toFixed(2)} s`;
    const { namespace = "" } = metadata;
    const bucket = Number(namespace.slice(BUCKET_PREFIX.length));
    const owner = this.#assignment?.entries[bucket]?.owner;
    // Without an assignment, former owners may finish their work in flight.
    if (this.#assignment !== undefined && owner !== identity)
      this.violations.push(`${at}: ${identity} wrote for ${bucketName(bucket)}, which is ${JSON.stringify(owner)}'s`);
    const slot = `${namespace}/${data!["slot"]}`;
    const other = this.#slots.get(slot);
    if (other !== undefined) this.violations.push(`${at}: slot ${slot} of ${other} was done again by ${identity}`);
    this.#slots.set(slot, identity);
  }

  async #work(work: BucketWork, signal: AbortSignal, identity: string, clock: ProcessClock): Promise<void> {
    const failure = this.#options.failure?.(identity, work.bucket);
    if (failure !== undefined) throw failure;
    const namespace = namespaceOf(work.bucket);
    const objects: ResourceClient<ConfigMap> = new Client({
      transport: work.transport,
      clock,
      userAgent: identity,
    }).resource(configMaps);
    const cache = new Set<string>();
    const fill = async (resourceVersion?: string): Promise<void> => {
      const { items } = await objects.list({ namespace, resourceVersion });
      for (const { data } of items) cache.add(data?.["slot"] ?? "");
    };
    let firstSlot = Math.floor(clock.now() / SLOT_MS);
    while (!signal.aborted) {
      try {
        await fill(this.#options.listsAnyVersion === true ? "0" : undefined);
        break;
      } catch {
        await clock.sleep(POLL_MS, signal, { background: true }).catch(() => undefined);
      }
    }
    if (signal.aborted) return;
    if (this.#options.isStuck?.(identity, work.bucket) === true)
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    work.opened();
    for (; !signal.aborted;) {
      const slot = Math.floor(clock.now() / SLOT_MS);
      for (; firstSlot <= slot && !signal.aborted; firstSlot++) {
        if (cache.has(String(firstSlot))) continue;
        const object: ConfigMap = { metadata: { generateName: "slot-", namespace }, data: { slot: String(firstSlot) } };
        try {
          // A sync reads before it writes, and faults may happen between the two.
          await objects.list({ namespace, limit: 1 });
          await objects.create(object);
          cache.add(String(firstSlot));
        } catch {
          // The write may have taken effect: the cache is read again once it no longer can.
          await clock.sleep(8_000, signal, { background: true }).catch(() => undefined);
          await fill().catch(() => undefined);
          break;
        }
      }
      await clock.sleep(POLL_MS, signal, { background: true }).catch(() => undefined);
    }
  }
}

function namespaceOf(bucket: number): string {
  return `${BUCKET_PREFIX}${bucket}`;
}

/** Waits for a connection that becomes free while the process runs, and checks the request at that moment. */
function waitForConnection({ signal, beforeSend }: ApiRequest, clock: Clock, afterMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const send = (): void => {
      try {
        signal?.throwIfAborted();
        beforeSend?.();
        resolve();
      } catch (error) {
        reject(error);
      }
    };
    clock.setTimer(afterMs, send, { background: true });
  });
}

/** Delivers stream events only while the process runs, and ends the stream when its connection is down. */
function pausableBody(body: ApiResponse["body"], clock: ProcessClock, fault: Fault): ApiResponse["body"] {
  if (body.type !== "events") return body;
  const { events } = body;
  return {
    type: "events",
    events: (async function* () {
      for await (const event of events) {
        await clock.untilRunning();
        if (fault.down) throw new Error("read ECONNRESET");
        if (!fault.areWatchesSilent) yield event;
      }
    })(),
  };
}
