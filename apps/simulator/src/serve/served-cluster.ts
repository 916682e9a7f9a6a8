import { type Clock, untilAborted } from "@kubewright/clock";
import { type ApiServer, type Cluster, type PathResponse, type StoreSnapshot } from "@kubewright/cluster";
import type { ApiRequest } from "@kubewright/transport";

import type { ManualClock } from "./manual-clock.js";
import { readJsonObject, refusal, reply } from "./path-responses.js";

export const RESET_PATH = "/_kubewright/reset";
export const SNAPSHOT_PATH = "/_kubewright/snapshot";

/** Maximum number of snapshots, each of which stores a whole state. */
const MAX_SNAPSHOTS = 100;

/** State of a cluster: all stored objects, and its time. */
export interface ClusterState {
  readonly snapshot: StoreSnapshot;
  readonly nowMs: number;
}

/** State to start a cluster from, with the resourceVersion at which it continues. */
export interface InitialState extends ClusterState {
  readonly resourceVersion: string;
}

/** A cluster from its start, or a reset, to the next reset. */
export interface ClusterInstance {
  readonly cluster: Cluster;
  readonly clock: Pick<Clock, "now">;
  /** Set when the clock is manual. */
  readonly manual?: ManualClock | undefined;
  /** Releases the resources of this instance after it has stopped. */
  readonly dispose: () => void;
}

/**
 * The cluster of `serve`, which can be reset to an earlier state. Each reset creates a cluster from a stored state,
 * which takes over the ports. Its resourceVersions continue, so that every watch of the previous cluster ends as after
 * a compaction.
 *
 * A POST to {@link RESET_PATH} restores the initial state, or with `{"snapshot": ID}` a snapshot. A POST to {@link
 * SNAPSHOT_PATH} takes a snapshot and returns its ID, or uses the ID of `{"snapshot": ID}`. These requests run one
 * after the other. A snapshot waits for a clock that is being advanced; a reset stops it.
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
  /** Last reset or snapshot, which the next one waits for. */
  #lastOperation: Promise<unknown> = Promise.resolve();

  /** @param begin - Creates a cluster from a state, or from nothing. A manual clock starts at the time of the state. */
  constructor(createInstance: (from: InitialState | undefined) => ClusterInstance) {
    this.#createInstance = createInstance;
    this.#instance = createInstance(undefined);
    this.#failed.promise.catch(() => {});
  }

  get apiServer(): ApiServer {
    return this.#instance.cluster.apiServer;
  }

  /**
   * Runs the current cluster, across resets, until the signal aborts. Rejects when a component fails.
   *
   * @param onReady - Called once all components have received the initial state.
   */
  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    const stopped = untilAborted(signal);
    const started = this.#enqueue(async () => {
      await this.#start(this.#instance);
      this.#initial = this.#state();
    });
    await Promise.race([started.then(onReady), stopped, this.#failed.promise]);
    await Promise.race([stopped, this.#failed.promise]);
    this.#stop.abort();
    await this.#running;
  }

  /** Serves requests to {@link RESET_PATH}. */
  async reset({ method, body }: ApiRequest): Promise<PathResponse> {
    if (method !== "POST") return refusal(405, "MethodNotAllowed", `POST to ${RESET_PATH}`);
    const request = readId(body);
    if (typeof request === "string") return refusal(400, "BadRequest", request);
    const { id } = request;
    // Snapshots in the queue wait for the clock.
    this.#instance.manual?.interrupt();
    return this.#enqueue(async () => {
      const state = id === undefined ? this.#initial : this.#snapshots.get(id);
      if (state === undefined) return refusal(404, "NotFound", `there is no snapshot ${JSON.stringify(id)}`);
      await this.#restore(state);
      return reply(200, { resourceVersion: this.apiServer.resourceVersion });
    });
  }

  /** Serves requests to {@link SNAPSHOT_PATH}. */
  async takeSnapshot({ method, body }: ApiRequest): Promise<PathResponse> {
    if (method !== "POST") return refusal(405, "MethodNotAllowed", `POST to ${SNAPSHOT_PATH}`);
    const request = readId(body);
    if (typeof request === "string") return refusal(400, "BadRequest", request);
    const id = request.id ?? `snapshot-${++this.#snapshotCount}`;
    return this.#enqueue(async () => {
      await this.#instance.manual?.idle;
      if (this.#snapshots.size >= MAX_SNAPSHOTS && !this.#snapshots.has(id))
        return refusal(
          403,
          "Forbidden",
          `there are ${MAX_SNAPSHOTS} snapshots already: overwrite one of them by its ID`,
        );
      this.#snapshots.set(id, this.#state());
      return reply(200, { snapshot: id, resourceVersion: this.apiServer.resourceVersion });
    });
  }

  async #restore(state: ClusterState): Promise<void> {
    const previous = this.#instance;
    previous.manual?.interrupt();
    await previous.manual?.idle;
    // Higher than every version that a client has received.
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
      // Errors of a replaced instance have no effect.
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

/** Returns the snapshot ID of a body, or a message about an invalid body. */
function readId(body: ApiRequest["body"]): { readonly id: string | undefined } | string {
  const read = readJsonObject(body, '{"snapshot": "with-pods"}');
  if (typeof read === "string") return read;
  const { snapshot: id } = read;
  if (id === undefined) return { id };
  if (typeof id === "string" && /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(id)) return { id };
  return `snapshot: ${JSON.stringify(id)} is not a name of up to 63 letters, digits, "-", "_" and "."`;
}
