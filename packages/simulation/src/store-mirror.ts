import { type DeepReadonly, type KubernetesObject, qualifiedResource } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";
import type { ApiServer, StoreChange } from "@kubewright/cluster";

import type { Stored, StoredChange } from "./world.js";

/** A copy of the current store, by resource, namespace and name. */
export class StoreMirror {
  readonly #resources = new Map<string, Mirrored>();
  readonly #clock: Pick<Clock, "now">;

  /** @param options.onChange - Called after each change has been applied to the mirror. */
  constructor(
    apiServer: Pick<ApiServer, "follow" | "snapshot">,
    { clock, onChange }: { readonly clock: Pick<Clock, "now">; readonly onChange: (change: MirroredChange) => void },
  ) {
    this.#clock = clock;
    for (const [key, objects] of Object.entries(apiServer.snapshot().objects)) {
      const [group = "", resource = ""] = key.split("/");
      const mirrored = this.#resource(qualifiedResource({ group, resource }));
      for (const object of objects) mirrored.objects.set(keyOf(object), object);
    }
    apiServer.follow((change) => onChange(this.#take(change)));
  }

  get(resource: string, namespace: string, name: string): Stored | undefined {
    return this.#resources.get(resource)?.objects.get(`${namespace}/${name}`);
  }

  /** Returns when an object of this name was last changed; `-Infinity` for an unchanged initial object. */
  changedMs(resource: string, namespace: string, name: string): number {
    return this.#resources.get(resource)?.changedMs.get(`${namespace}/${name}`) ?? Number.NEGATIVE_INFINITY;
  }

  /** Returns the objects in the order of creation. */
  list(resource: string): readonly Stored[] {
    const mirrored = this.#resources.get(resource);
    return mirrored === undefined ? [] : [...mirrored.objects.values()];
  }

  /** Plural and group of all resources with objects. */
  get resources(): readonly string[] {
    return [...this.#resources].flatMap(([resource, { objects }]) => (objects.size > 0 ? [resource] : []));
  }

  #take({ group, resource: plural, current, previous }: StoreChange): MirroredChange {
    const resource = qualifiedResource({ group, resource: plural });
    const { objects, changedMs } = this.#resource(resource);
    const key = keyOf((current ?? previous)!);
    changedMs.set(key, this.#clock.now());
    if (current === undefined) {
      objects.delete(key);
      return { resource, type: "DELETED", object: previous!, previous: previous! };
    }
    objects.set(key, current);
    return previous === undefined
      ? { resource, type: "ADDED", object: current }
      : { resource, type: "MODIFIED", object: current, previous };
  }

  #resource(name: string): Mirrored {
    let mirrored = this.#resources.get(name);
    if (mirrored === undefined) this.#resources.set(name, (mirrored = { objects: new Map(), changedMs: new Map() }));
    return mirrored;
  }
}

/** Objects of one resource, by namespace and name. */
interface Mirrored {
  readonly objects: Map<string, Stored>;
  /** When each object was last changed, including deleted ones. */
  readonly changedMs: Map<string, number>;
}

export type MirroredChange = Omit<StoredChange, "atMs" | "request">;

function keyOf({ metadata: { namespace = "", name = "" } }: DeepReadonly<KubernetesObject>): string {
  return `${namespace}/${name}`;
}
