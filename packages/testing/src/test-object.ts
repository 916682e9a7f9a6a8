import {
  type DeepReadonly,
  type Event,
  type KubernetesObject,
  type ResourceDefinition,
  events,
  qualifiedResource,
} from "@kubewright/api";
import { type Client, isNotFound, type MergePatch } from "@kubewright/client";

/** A reference to one object of a cluster, which need not exist. Used by conditions, matchers and errors. */
export class TestObject<T extends KubernetesObject = KubernetesObject> {
  readonly #client: Client;

  constructor(
    client: Client,
    readonly definition: ResourceDefinition<T>,
    readonly name: string,
    /** `undefined` for a cluster-scoped object. */
    readonly namespace: string | undefined,
  ) {
    this.#client = client;
  }

  /** @throws StatusError `NotFound` when the object does not exist. */
  get(): Promise<DeepReadonly<T>> {
    return this.#client.resource(this.definition).get(this.name, this.#place);
  }

  /** Returns the object, or `undefined` when it does not exist. */
  async find(): Promise<DeepReadonly<T> | undefined> {
    try {
      return await this.get();
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Applies a merge patch: it replaces the given fields, and removes those that are `null`. */
  patch(body: MergePatch<T>, { subresource }: { readonly subresource?: string } = {}): Promise<DeepReadonly<T>> {
    const options = { ...this.#place, ...(subresource === undefined ? {} : { subresource }) };
    return this.#client.resource(this.definition).patch(this.name, { type: "merge", body }, options);
  }

  async delete(propagationPolicy: "Background" | "Foreground" | "Orphan" = "Background"): Promise<void> {
    await this.#client.resource(this.definition).delete(this.name, { ...this.#place, propagationPolicy });
  }

  /** Returns its events, oldest first. */
  async events(): Promise<DeepReadonly<Event>[]> {
    const { items } = await this.#client.resource(events).list({ namespace: this.namespace ?? "default" });
    return items
      .filter(({ involvedObject: { kind, name } }) => kind === this.definition.kind && name === this.name)
      .sort((a, b) => compareText(timeOf(a), timeOf(b)));
  }

  /**
   * Returns the objects of a kind that it owns, in its namespace, or in all namespaces for a cluster-scoped owner.
   * Empty when the owner does not exist.
   */
  async owned<O extends KubernetesObject>(definition: ResourceDefinition<O>): Promise<DeepReadonly<O>[]> {
    const owner = await this.find();
    if (owner === undefined) return [];
    const place = this.namespace !== undefined && definition.namespaced ? { namespace: this.namespace } : {};
    const { items } = await this.#client.resource(definition).list(place);
    return items.filter((item) =>
      ((item as DeepReadonly<KubernetesObject>).metadata.ownerReferences ?? []).some(
        ({ uid }) => uid === owner.metadata.uid,
      ),
    );
  }

  /** Returns all objects of its kind in its namespace. */
  async siblings(): Promise<DeepReadonly<T>[]> {
    return [...(await this.#client.resource(this.definition).list(this.#place)).items];
  }

  /** `Job default/pi` */
  toString(): string {
    const key = this.namespace === undefined ? this.name : `${this.namespace}/${this.name}`;
    return `${this.definition.kind} ${key}`;
  }

  /** The representation in the output of test runners. */
  toJSON(): object {
    return { object: this.toString(), resource: qualifiedResource(this.definition) };
  }

  get #place(): { readonly namespace?: string } {
    return this.namespace === undefined ? {} : { namespace: this.namespace };
  }
}

function timeOf({ firstTimestamp, eventTime, metadata }: DeepReadonly<Event>): string {
  return firstTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "";
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
