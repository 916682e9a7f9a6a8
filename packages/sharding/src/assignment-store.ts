import { type ConfigMap, type DeepReadonly, compareResourceVersions, configMaps } from "@kubewright/api";
import { type Client, type ResourceClient, isAlreadyExists, isNotFound } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";

import { type Assignment, formatAssignment, createFreeAssignment, layoutOf, parseAssignment } from "./assignment.js";
import { bounded } from "./bounded.js";
import type { BucketLayout } from "./layout.js";
import { MemberError } from "./member-error.js";
import { GROUP_LABEL } from "./own-lease.js";

/** The assignment as it was at one moment. */
export interface StoredAssignment {
  readonly assignment: Assignment;
  /** Which buckets it has: perhaps others than this member knows. */
  readonly layout: BucketLayout;
  /** Whatever the former owner of a bucket ever wrote is older. */
  readonly resourceVersion: string;
  readonly object: DeepReadonly<ConfigMap>;
}

/** The member of the ConfigMap's data. */
const DATA_KEY = "assignment";

export interface AssignmentStoreOptions {
  readonly client: Pick<Client, "resource">;
  readonly clock: Clock;
  readonly namespace: string;
  readonly group: string;
  /** Of an assignment that is made here. */
  readonly layout: BucketLayout;
  readonly requestTimeoutMs: number;
}

export function assignmentName(group: string): string {
  return `${group}-assignment`;
}

/** The ConfigMap with the assignment, and what was last known of it. */
export class AssignmentStore {
  readonly #options: AssignmentStoreOptions;
  readonly #configMaps: ResourceClient<ConfigMap>;
  #object: DeepReadonly<ConfigMap> | undefined;
  #latest: StoredAssignment | undefined;

  constructor(options: AssignmentStoreOptions) {
    this.#options = options;
    this.#configMaps = options.client.resource(configMaps);
  }

  /** The newest that was read, written or heard of; `undefined`: there was none. */
  get latest(): StoredAssignment | undefined {
    return this.#latest;
  }

  /** Takes in what a watch tells, which may lag behind. @throws Error when it cannot be read */
  observe(object: DeepReadonly<ConfigMap>): void {
    if (!isOlder(object, this.#object)) this.#setLatest(object);
  }

  /** @throws MemberError when time went back; Error when it cannot be read; or what the request failed with. */
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
      // A watch may have told something newer while the answer was on its way.
      if (!isOlder(found, this.#object)) this.#setLatest(found);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#object = this.#latest = undefined;
    }
    return this.#latest;
  }

  /** Makes one in which all is free, unless somebody else has. */
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

  /** Puts another one in the place of `base`. @throws StatusError `Conflict` when somebody has since. */
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
