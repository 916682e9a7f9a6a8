import {
  type DeepReadonly,
  type KubernetesObject,
  type ResourceDefinition,
  cronJobs,
  jobs,
  pods,
} from "@kubewright/api";
import { type InformerFactory, deletedObject } from "@kubewright/informer";

/** A recorded object without `managedFields`. Plain data. */
export interface RecordedObject {
  readonly uid: string;
  readonly kind: string;
  /** Time of the first observation, from the recorder's `now`. */
  readonly atMs: number;
  readonly object: unknown;
}

/** Records the latest version of the first CronJobs, Jobs and pods of a run, for the page. */
export class ObjectRecorder {
  readonly #maxOfKind: number;
  readonly #now: () => number;
  readonly #objects = new Map<string, { readonly atMs: number; object: DeepReadonly<KubernetesObject> }>();

  /**
   * @param maxOfKind - Maximum number of objects of each kind.
   * @param now - Returns the time of an observation. Default: 0, for callers that do not need it.
   */
  constructor(maxOfKind: number, now: () => number = () => 0) {
    this.#maxOfKind = maxOfKind;
    this.#now = now;
  }

  /** Follows the objects of a cluster from now on. */
  follow(informers: InformerFactory): void {
    this.#followKind(informers, cronJobs);
    this.#followKind(informers, jobs);
    this.#followKind(informers, pods);
  }

  /** In the order of their first observation. */
  get objects(): RecordedObject[] {
    return [...this.#objects].map(
      ([
        uid,
        {
          atMs,
          object: { metadata, ...object },
        },
      ]) => {
        const { managedFields: _, ...shown } = metadata;
        const { apiVersion, kind = "" } = object;
        return { uid, kind, atMs, object: { apiVersion, kind, metadata: shown, ...object } };
      },
    );
  }

  #followKind<T extends KubernetesObject>(informers: InformerFactory, definition: ResourceDefinition<T>): void {
    let remaining = this.#maxOfKind;
    const { group, version, kind } = definition;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const record = (object: DeepReadonly<T>): void => {
      const { uid = "" } = object.metadata;
      const shown = { ...object, apiVersion, kind };
      const known = this.#objects.get(uid);
      if (known !== undefined) known.object = shown;
      else if (remaining-- > 0) this.#objects.set(uid, { atMs: this.#now(), object: shown });
    };
    informers.informerFor(definition).addEventHandler({
      onAdd: record,
      onUpdate: (_old, object) => record(object),
      onDelete: (deleted) => {
        const object = deletedObject(deleted);
        if (object !== undefined) record(object);
      },
    });
  }
}

/** Returns the objects by UID, as the page reads them. */
export function objectsByUid(objects: readonly RecordedObject[]): Record<string, unknown> {
  return Object.fromEntries(objects.map(({ uid, object }) => [uid, object]));
}
