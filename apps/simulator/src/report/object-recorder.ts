import {
  type DeepReadonly,
  type KubernetesObject,
  type ResourceDefinition,
  cronJobs,
  jobs,
  pods,
} from "@kubewright/api";
import { type InformerFactory, deletedObject } from "@kubewright/informer";

/** An object that was kept, without the bookkeeping of fields' managers. Plain data. */
export interface RecordedObject {
  readonly uid: string;
  readonly kind: string;
  /** When it was heard of first: what `now` said. */
  readonly atMs: number;
  readonly object: unknown;
}

/** Keeps the first CronJobs, Jobs and pods of a run as they were last, for the page to show. */
export class ObjectRecorder {
  readonly #maxOfKind: number;
  readonly #now: () => number;
  readonly #objects = new Map<string, { readonly atMs: number; object: DeepReadonly<KubernetesObject> }>();

  /** @param now - Told with what is kept. Default: nobody wants to know. */
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

  /** In the order in which they were heard of. */
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

/** By UID, as the page looks for them. */
export function objectsByUid(objects: readonly RecordedObject[]): Record<string, unknown> {
  return Object.fromEntries(objects.map(({ uid, object }) => [uid, object]));
}
