import type { Clock } from "@kubewright/clock";
import { type ApiServer, type Cluster, type PathResponse, type StoreSnapshot } from "@kubewright/cluster";
import type { ApiRequest } from "@kubewright/transport";

import type { ManualClock } from "./manual-clock.js";
import { readJsonObject, refusal, reply } from "./path-responses.js";

export const RESET_PATH = "/_kubewright/reset";
export const SNAPSHOT_PATH = "/_kubewright/snapshot";

/** More are refused: each keeps what was stored then. */
const MAX_SNAPSHOTS = 100;

/** What a cluster was: everything stored, and what time it was. */
export interface ClusterState {
  readonly snapshot: StoreSnapshot;
  readonly nowMs: number;
}

/** What a cluster begins with: what one was, under a resourceVersion of its own. */
export interface InitialState extends ClusterState {
  readonly resourceVersion: string;
}

/** A cluster from its start, or a reset, to the next reset. */
export interface ClusterInstance {
  readonly cluster: Cluster;
  readonly clock: Pick<Clock, "now">;
  /** Set when time stands still. */
  readonly manual?: ManualClock | undefined;
  /** What only this life needs is let go. It has stopped. */
  readonly dispose: () => void;
}

/**
 * The cluster of `serve`, which can be put back to where it was: every reset makes a new one, of what was stored then, that
 * takes over the ports. Its resourceVersions go on, and so every watch of the one before ends, as after a compaction.
 *
 * POST to {@link RESET_PATH} goes back to the start, or with `{"snapshot": ID}` to what a POST to {@link SNAPSHOT_PATH} kept,
 * which answers that ID, or takes it with `{"snapshot": ID}`. They wait for one another, and for a clock that is being advanced.
 */
export class ServedCluster {
  readonly #createInstance: (from: InitialState | undefined) => ClusterInstance;
  readonly #snapshots = new Map<string, ClusterState>();
  readonly #failed = Promise.withResolvers<never>();
  #snapshotCount = 0;
  #instance: ClusterInstance;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #initial: ClusterState | undefined;
  /** Resets and snapshots wait for one another. */
  #lastOperation: Promise<unknown> = Promise.resolve();

  /** @createInstance createInstance - Makes a cluster that begins with this, or from nothing. Its clock, if it stands still, stands where that one did. */
  constructor(createInstance: (from: InitialState | undefined) => ClusterInstance) {
    this.#createInstance = createInstance;
    this.#instance = createInstance(undefined);
    this.#failed.promise.catch(() => {});
  }

  get apiServer(): ApiServer {
    return this.#instance.cluster.apiServer;
  }

  /**
   * Runs the cluster, whichever it is, until the signal aborts. Rejects when a component fails.
   *
   * @param onReady - Told once everything has seen what is there at the start.
   */
  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const started = this.#enqueue(async () => {
      await this.#start(this.#instance);
      this.#initial = this.#state();
    });
    await Promise.race([started.then(onReady), stopped, this.#failed.promise]);
    await Promise.race([stopped, this.#failed.promise]);
    this.#stop.abort();
    await this.#running;
  }

  /** Answers requests to {@link RESET_PATH}. */
  async reset({ method, body }: ApiRequest): Promise<PathResponse> {
    if (method !== "POST") return refusal(405, "MethodNotAllowed", `POST to ${RESET_PATH}`);
    const request = readId(body);
    if (typeof request === "string") return refusal(400, "BadRequest", request);
    const { id } = request;
    return this.#enqueue(async () => {
      const state = id === undefined ? this.#initial : this.#snapshots.get(id);
      if (state === undefined) return refusal(404, "NotFound", `there is no snapshot ${JSON.stringify(id)}`);
      await this.#restore(state);
      return reply(200, { resourceVersion: this.apiServer.resourceVersion });
    });
  }

  /** Answers requests to {@link SNAPSHOT_PATH}. */
  async takeSnapshot({ method, body }: ApiRequest): Promise<PathResponse> {
    if (method !== "POST") return refusal(405, "MethodNotAllowed", `POST to ${SNAPSHOT_PATH}`);
    const request = readId(body);
    if (typeof request === "string") return refusal(400, "BadRequest", request);
    const id = request.id ?? `snapshot-${++this.#snapshotCount}`;
    return this.#enqueue(async () => {
      await this.#instance.manual?.idle;
      if (this.#snapshots.size >= MAX_SNAPSHOTS && !this.#snapshots.has(id))
        return refusal(403, "Forbidden", `there are ${MAX_SNAPSHOTS} snapshots already: overwrite one of them by its ID`);
      this.#snapshots.set(id, this.#state());
      return reply(200, { snapshot: id, resourceVersion: this.apiServer.resourceVersion });
    });
  }

  async #restore(state: ClusterState): Promise<void> {
    const previous = this.#instance;
    await previous.manual?.idle;
    // Beyond everything that anybody has seen.
    const resourceVersion = String(Number(previous.cluster.apiServer.resourceVersion) + 1);
    const next = this.#createInstance({ ...state, resourceVersion });
    const [stop, running] = [this.#stop, this.#running];
    previous.cluster.apiServer.handOver(next.cluster.apiServer);
    this.#instance = next;
    stop.abort();
    void running.finally(previous.dispose);
    this.#stop = new AbortController();
    await this.#start(next);
  }

  async #start(instance: ClusterInstance): Promise<void> {
    this.#running = instance.cluster.run(this.#stop.signal).catch((error: unknown) => {
      // One that was put away cannot do anything about it.
      if (instance === this.#instance) this.#failed.reject(error);
    });
    await instance.cluster.ready(this.#stop.signal);
  }

  #state(): ClusterState {
    return { snapshot: this.apiServer.snapshot(), nowMs: this.#instance.clock.now() };
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastOperation.then(work);
    this.#lastOperation = done.catch(() => {});
    return done;
  }
}

/** The snapshot that a body names, or what is wrong with it. */
function readId(body: ApiRequest["body"]): { readonly id: string | undefined } | string {
  const read = readJsonObject(body, '{"snapshot": "with-pods"}');
  if (typeof read === "string") return read;
  const { snapshot: id } = read;
  if (id === undefined) return { id };
  if (typeof id === "string" && /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(id)) return { id };
  return `snapshot: ${JSON.stringify(id)} is not a name of up to 63 letters, digits, "-", "_" and "."`;
}
