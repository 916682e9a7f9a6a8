import {
  type DeepReadonly,
  type KubernetesObject,
  type ResourceDefinition,
  cronJobs,
  jobs,
  pods,
} from "@kubewright/api";
import { type InformerFactory, deletedObject } from "@kubewright/informer";

/** Keeps the first CronJobs, Jobs and pods of a run as they were last, for the page to show. */
export class ObjectKeeper {
  readonly #maxOfKind: number;
  readonly #kept = new Map<string, DeepReadonly<KubernetesObject>>();

  constructor(maxOfKind: number) {
    this.#maxOfKind = maxOfKind;
  }

  /** Follows the objects of a cluster from now on. */
  follow(informers: InformerFactory): void {
    this.#followKind(informers, cronJobs);
    this.#followKind(informers, jobs);
    this.#followKind(informers, pods);
  }

  /** By UID, without the bookkeeping of fields' managers. */
  objects(): Record<string, unknown> {
    const objects: Record<string, unknown> = {};
    for (const [uid, { metadata, ...object }] of this.#kept) {
      const { managedFields: _, ...shown } = metadata;
      objects[uid] = { apiVersion: object.apiVersion, kind: object.kind, metadata: shown, ...object };
    }
    return objects;
  }

  #followKind<T extends KubernetesObject>(informers: InformerFactory, definition: ResourceDefinition<T>): void {
    let left = this.#maxOfKind;
    const { group, version, kind } = definition;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const keep = (object: DeepReadonly<T>): void => {
      const { uid = "" } = object.metadata;
      if (!this.#kept.has(uid) && left-- <= 0) return;
      this.#kept.set(uid, { ...object, apiVersion, kind });
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
