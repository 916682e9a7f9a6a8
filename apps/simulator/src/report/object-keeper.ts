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
export interface KeptObject {
  readonly uid: string;
  readonly kind: string;
  /** When it was heard of first: what `now` said. */
  readonly atMs: number;
  readonly object: unknown;
}

/** Keeps the first CronJobs, Jobs and pods of a run as they were last, for the page to show. */
export class ObjectKeeper {
  readonly #maxOfKind: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, { readonly atMs: number; object: DeepReadonly<KubernetesObject> }>();

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
  get kept(): KeptObject[] {
    return [...this.#kept].map(
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
    let left = this.#maxOfKind;
    const { group, version, kind } = definition;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const keep = (object: DeepReadonly<T>): void => {
      const { uid = "" } = object.metadata;
      const shown = { ...object, apiVersion, kind };
      const known = this.#kept.get(uid);
      if (known !== undefined) known.object = shown;
      else if (left-- > 0) this.#kept.set(uid, { atMs: this.#now(), object: shown });
    };
    informers.informerFor(definition).addEventHandler({
      onAdd: keep,
      onUpdate: (_old, object) => keep(object),
      onDelete: (deleted) => {
        const object = deletedObject(deleted);
        if (object !== undefined) keep(object);
      },
    });
  }
}

/** By UID, as the page looks for them. */
export function objectsByUid(kept: readonly KeptObject[]): Record<string, unknown> {
  return Object.fromEntries(kept.map(({ uid, object }) => [uid, object]));
}
