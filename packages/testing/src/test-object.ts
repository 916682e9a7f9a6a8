import {
  type DeepReadonly,
  type Event,
  type KubernetesObject,
  type ResourceDefinition,
  events,
  qualifiedResource,
} from "@kubewright/api";
import { type Client, isNotFound, type MergePatch } from "@kubewright/client";

/** One object of a cluster, whether it is there or not: what conditions, matchers and errors talk about. */
export class TestObject<T extends KubernetesObject = KubernetesObject> {
  readonly #client: Client;

  constructor(
    client: Client,
    readonly definition: ResourceDefinition<T>,
    readonly name: string,
    /** `undefined` for a cluster-scoped one. */
    readonly namespace: string | undefined,
  ) {
    this.#client = client;
  }

  /** @throws StatusError `NotFound` when there is none. */
  get(): Promise<DeepReadonly<T>> {
    return this.#client.resource(this.definition).get(this.name, this.#place);
  }

  /** The object, or `undefined` when there is none. */
  async find(): Promise<DeepReadonly<T> | undefined> {
    try {
      return await this.get();
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** A merge patch: what it names is replaced, and `null` takes away. */
  patch(body: MergePatch<T>, { subresource }: { readonly subresource?: string } = {}): Promise<DeepReadonly<T>> {
    const options = { ...this.#place, ...(subresource === undefined ? {} : { subresource }) };
    return this.#client.resource(this.definition).patch(this.name, { type: "merge", body }, options);
  }

  async delete(propagationPolicy: "Background" | "Foreground" | "Orphan" = "Background"): Promise<void> {
    await this.#client.resource(this.definition).delete(this.name, { ...this.#place, propagationPolicy });
  }

  /** What was told about it, oldest first. */
  async events(): Promise<DeepReadonly<Event>[]> {
    const { items } = await this.#client.resource(events).list({ namespace: this.namespace ?? "default" });
    return items
      .filter(({ involvedObject: { kind, name } }) => kind === this.definition.kind && name === this.name)
      .sort((a, b) => compareText(timeOf(a), timeOf(b)));
  }

  /** Those in its namespace, or anywhere for a cluster-scoped one, whose owner it is. None when it is not there. */
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

  /** All of its kind in its namespace. */
  async siblings(): Promise<DeepReadonly<T>[]> {
    return [...(await this.#client.resource(this.definition).list(this.#place)).items];
  }

  /** `Job default/pi` */
  toString(): string {
    const key = this.namespace === undefined ? this.name : `${this.namespace}/${this.name}`;
    return `${this.definition.kind} ${key}`;
  }

  /** As test runners print it. */
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
