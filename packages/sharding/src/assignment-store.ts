import { type ConfigMap, type DeepReadonly, compareResourceVersions, configMaps } from "@kubewright/api";
import { type Client, type ResourceClient, isAlreadyExists, isNotFound } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";

import { type Assignment, formatAssignment, createFreeAssignment, layoutOf, parseAssignment } from "./assignment.js";
import { bounded } from "./bounded.js";
import type { BucketLayout } from "./layout.js";
import { MemberError } from "./member-error.js";
import { GROUP_LABEL } from "./own-lease.js";

/** The assignment at one resourceVersion. */
export interface StoredAssignment {
  readonly assignment: Assignment;
  /** The buckets of the stored assignment, which may differ from this member's layout. */
  readonly layout: BucketLayout;
  /** Every write of the former owner of a bucket is older than this resourceVersion. */
  readonly resourceVersion: string;
  readonly object: DeepReadonly<ConfigMap>;
}

/** Key in the ConfigMap's `data`. */
const DATA_KEY = "assignment";

export interface AssignmentStoreOptions {
  readonly client: Pick<Client, "resource">;
  readonly clock: Clock;
  readonly namespace: string;
  readonly group: string;
  /** Layout of an assignment that this store creates. */
  readonly layout: BucketLayout;
  readonly requestTimeoutMs: number;
}

export function assignmentName(group: string): string {
  return `${group}-assignment`;
}

/** Reads and writes the ConfigMap with the assignment, and caches its newest version. */
export class AssignmentStore {
  readonly #options: AssignmentStoreOptions;
  readonly #configMaps: ResourceClient<ConfigMap>;
  #object: DeepReadonly<ConfigMap> | undefined;
  #latest: StoredAssignment | undefined;

  constructor(options: AssignmentStoreOptions) {
    this.#options = options;
    this.#configMaps = options.client.resource(configMaps);
  }

  /**
   * The newest assignment that was read, written or delivered by a watch; `undefined`: the ConfigMap does not exist.
   */
  get latest(): StoredAssignment | undefined {
    return this.#latest;
  }

  /**
   * Takes the object of a watch event, which may be older than the cached one and is then ignored.
   *
   * @throws AssignmentError when the assignment cannot be parsed.
   */
  observe(object: DeepReadonly<ConfigMap>): void {
    if (!isOlder(object, this.#object)) this.#setLatest(object);
  }

  /**
   * Reads the ConfigMap from the API server.
   *
   * @throws MemberError when the resourceVersion is lower than the cached one of the same UID; AssignmentError
   * when the assignment cannot be parsed; otherwise the error of the request.
   */
  async read(signal: AbortSignal): Promise<StoredAssignment | undefined> {
    const { namespace } = this.#options;
    const name = assignmentName(this.#options.group);
    const known = this.#object;
    try {
      const found = await this.#bounded((bound) => this.#configMaps.get(name, { namespace, signal: bound }), signal);
      if (isOlder(found, known) && known?.metadata.uid === found.metadata.uid)
        throw new MemberError(
          `the resourceVersion of ${namespace}/${name} went back, as after a restored backup: this member knows what never happened`,
        );
      // A watch may have delivered a newer version while the response was under way.
      if (!isOlder(found, this.#object)) this.#setLatest(found);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#object = this.#latest = undefined;
    }
    return this.#latest;
  }

  /** Creates an assignment without owners. If the ConfigMap exists already, reads it. */
  async create(signal: AbortSignal): Promise<void> {
    const { namespace, group, layout } = this.#options;
    const metadata = { name: assignmentName(group), namespace, labels: { [GROUP_LABEL]: group } };
    const data = { [DATA_KEY]: formatAssignment(createFreeAssignment(layout)) };
    try {
      this.#setLatest(
        await this.#bounded((bound) => this.#configMaps.create({ metadata, data }, { signal: bound }), signal),
      );
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await this.read(signal);
    }
  }

  /**
   * Replaces the assignment `base`.
   *
   * @throws StatusError with reason `Conflict` when another member has written since `base`.
   */
  async write(base: StoredAssignment, assignment: Assignment, signal: AbortSignal): Promise<StoredAssignment> {
    const data = { ...base.object.data, [DATA_KEY]: formatAssignment(assignment) };
    const object = { ...base.object, data };
    return this.#setLatest(await this.#bounded((bound) => this.#configMaps.update(object, { signal: bound }), signal));
  }

  #setLatest(object: DeepReadonly<ConfigMap>): StoredAssignment {
    this.#object = object;
    const { resourceVersion = "" } = object.metadata;
    const assignment = parseAssignment(object.data?.[DATA_KEY] ?? "");
    this.#latest = { assignment, layout: layoutOf(assignment), resourceVersion, object };
    return this.#latest;
  }

  #bounded<T>(send: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, requestTimeoutMs } = this.#options;
    return bounded(send, { clock, limitMs: requestTimeoutMs, signals: [signal] });
  }
}

function isOlder({ metadata }: DeepReadonly<ConfigMap>, known: DeepReadonly<ConfigMap> | undefined): boolean {
  const before = known?.metadata.resourceVersion;
  if (before === undefined || metadata.resourceVersion === undefined) return false;
  return (compareResourceVersions(metadata.resourceVersion, before) ?? 0) < 0;
}
