import { type ConfigMap, type KubernetesObject, configMaps, leases, namespaces } from "@kubewright/api";
import { type ApiServer, type StoreSnapshot, createApiServer } from "@kubewright/apiserver";
import { Client, type ResourceClient } from "@kubewright/client";
import { type Clock, type Random, SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import { type Assignment, parseAssignment } from "../src/assignment.js";
import { bucketName } from "../src/bucket.js";
import { type BucketLayout, unsplitLayout } from "../src/layout.js";
import type { Mutation } from "../src/mutation.js";
import type { BucketWork } from "../src/owned-bucket.js";
import { ShardMember } from "../src/shard-member.js";
import type { MemberMetrics } from "../src/shard-metrics.js";
import type { ShardTiming } from "../src/timing.js";
import { ProcessClock } from "./process-clock.js";

const SYSTEM = "kube-system";
const BUCKET_PREFIX = "bucket-";
const ASSIGNMENT_PATH = `/api/v1/namespaces/${SYSTEM}/configmaps/kubewright-assignment`;
/** A new one is due in every bucket this often. */
const SLOT_MS = 10_000;
const POLL_MS = 1_000;
/** What a request of a bucket's work takes to get to the server: long enough that much can happen on the way. */
const LATENCY_MS = 40;
/** How far the server's cache lags behind its store. */
const LAG_MS = 3_000;

export interface WorldOptions {
  readonly seed?: number;
  readonly timing?: Partial<ShardTiming>;
  readonly mutations?: readonly Mutation[];
  /** Work of new owners begins with a list from the server's cache, which lags behind. A defect to be found. */
  readonly listsAnyVersion?: boolean;
  readonly metrics?: (identity: string) => MemberMetrics | undefined;
  /** Whose work for a bucket never syncs. */
  readonly isStuck?: (identity: string, bucket: number) => boolean;
  /** Why nobody is to take anything. */
  readonly blockReason?: () => string | undefined;
  /** The buckets that are looked at, and those of members that are not given others. Default: no namespace is split. */
  readonly layout?: BucketLayout;
}

export interface Fault {
  /** Requests fail before they get to the server, and watches end. */
  down: boolean;
  /** Parts of writes whose answers get lost on the way back. */
  lostAnswers: number;
  /** How much later writes of buckets' work get to the server, whoever has given up on them by then. */
  lateMs: number;
  /** How long writes of buckets' work wait in the process for a connection. */
  queueMs: number;
  /** Watches stay open and tell nothing. */
  areWatchesSilent: boolean;
}

export interface ProcessHandle {
  readonly identity: string;
  readonly clock: ProcessClock;
  readonly member: ShardMember;
  readonly fault: Fault;
  /** How it ended: `undefined` while it runs, `""` in order, or why. */
  ended(): string | undefined;
  /** SIGTERM. */
  stop(): Promise<void>;
}

/**
 * Processes that share work over one API server in simulated time, and an audit of what they write. The work of each bucket is a
 * controller of the simplest kind: for every slot of 10 s it makes one object with a generated name, unless its cache has one.
 */
export class ShardWorld {
  readonly clock = new SimulatedClock("2026-01-01T00:00:00Z");
  server: ApiServer;
  readonly client: Client;
  readonly processes: ProcessHandle[] = [];
  /** What must never be. */
  readonly violations: string[] = [];
  /** Owners of each bucket, one after the other. */
  readonly history: string[][];
  readonly #layout: BucketLayout;
  readonly #options: WorldOptions;
  readonly random: Random;
  readonly #slots = new Map<string, string>();
  /** What the store came to, and when: from a lag ago on. */
  readonly #versions: { readonly atMs: number; readonly resourceVersion: string }[] = [];
  #assignment: Assignment | undefined;
  /** The highest of each bucket, whatever became of it. */
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

  /** Slots that were done. */
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
    const member = new ShardMember(
      {
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
      },
      new Set(this.#options.mutations),
    );
    let ended: string | undefined;
    const running = member.run(stop.signal).then(
      () => (ended = ""),
      (error: unknown) => {
        ended = (error as Error).message;
        // Whoever runs a member ends with it.
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

  /** By identity, of those who have any. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const owner of this.owners()) counts[owner] = (counts[owner] ?? 0) + 1;
    return counts;
  }

  /** Buckets that had no slot done in so many milliseconds. */
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

  /** What was stored at some time is what is stored: a backup was restored. */
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

  /** A process's way to the server. */
  #link(identity: string, clock: ProcessClock, fault: Fault, random: Random): Transport {
    return async (request) => {
      if (fault.down) throw new Error("connect ECONNREFUSED");
      const isWrite = request.method !== "GET";
      const isWork = isWrite && request.path.includes(BUCKET_PREFIX);
      if (isWork && fault.queueMs > 0) await waitForConnection(request, clock, fault.queueMs);
      const latencyMs = LATENCY_MS * (0.5 + random.next()) + (isWork ? fault.lateMs : 0);
      await this.clock.sleep(latencyMs);
      if (fault.down && fault.lateMs === 0) throw new Error("read ECONNRESET");
      // A request that is on its way arrives, whatever became of its sender.
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

  /** Who takes any version gets what was {@link LAG_MS} ago. */
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
        this.violations.push(`${now.owner} took ${bucketName(bucket)} with epoch ${now.epoch} once more`);
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

  /** One writer at a time for each bucket: who the assignment names at the moment of the write. */
  #audit(identity: string, { metadata, data }: ConfigMap): void {
    const at = `${(this.clock.monotonic() / 1000).toFixed(2)} s`;
    const { namespace = "" } = metadata;
    const bucket = Number(namespace.slice(BUCKET_PREFIX.length));
    const owner = this.#assignment?.entries[bucket]?.owner;
    // While there is no assignment, who had something ends what it had begun.
    if (this.#assignment !== undefined && owner !== identity)
      this.violations.push(`${at}: ${identity} wrote for ${bucketName(bucket)}, which is ${JSON.stringify(owner)}'s`);
    const slot = `${namespace}/${data!["slot"]}`;
    const other = this.#slots.get(slot);
    if (other !== undefined) this.violations.push(`${at}: slot ${slot} of ${other} was done again by ${identity}`);
    this.#slots.set(slot, identity);
  }

  async #work(work: BucketWork, signal: AbortSignal, identity: string, clock: ProcessClock): Promise<void> {
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
          // A sync reads before it writes, and much may happen in between.
          await objects.list({ namespace, limit: 1 });
          await objects.create(object);
          cache.add(String(firstSlot));
        } catch {
          // It may have been done: what is known has to be read again, once it cannot be done any more.
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

/** A connection comes free while the process runs, and what waits for it is sent at that moment. */
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

/** Streams bring nothing to a process that does not run, and end when its way to the server does. */
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
