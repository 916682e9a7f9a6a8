import {
  type DeepReadonly,
  type KubernetesObject,
  type OwnerReference,
  type ResourceDefinition,
  type UnstructuredObject,
  apiVersionOf,
  configMaps,
  customResourceDefinitions,
  defineResource,
  events,
} from "@kubewright/api";
import { isNotFound } from "@kubewright/client";
import type { ApiRequest } from "@kubewright/transport";

import { ControllerHarness, refused, pathSegmentsOf } from "../../controller/test/controller-harness.js";
import { GarbageCollector, type GarbageCollectorOptions, type GarbageDecision } from "../src/index.js";

export const UNKNOWN_UID = "11111111-1111-4111-8111-111111111111";

export const widgets = defineResource<UnstructuredObject>({
  group: "example.com",
  version: "v1",
  resource: "widgets",
  kind: "Widget",
  namespaced: true,
});

export interface Shape {
  readonly namespace?: string;
  readonly owners?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  /** Other fields of the object, such as `spec`. */
  readonly more?: object;
}

type Named = Pick<DeepReadonly<KubernetesObject>, "metadata">;

/** Records deletions with their propagation policy: `DELETE configmaps/a Background`. */
export class Harness extends ControllerHarness {
  readonly decisions: GarbageDecision[] = [];
  syncErrors = 0;
  /** Status codes for discovery requests, by path. */
  readonly discoveryFaults = new Map<string, number>();
  readonly discoveryRequests: string[] = [];
  /** A resource that the controller can neither list nor watch. */
  hidden: string | undefined;
  #cut = new AbortController();
  #isCut = false;

  start(options: Partial<GarbageCollectorOptions> = {}): Promise<void> {
    return this.runController(
      (deps) =>
        new GarbageCollector({
          ...deps,
          events: undefined,
          discoveryIntervalMs: Infinity,
          metrics: { resourcesSyncError: () => void this.syncErrors++ },
          onDecision: (decision) => void this.decisions.push(decision),
          ...options,
        }),
    );
  }

  /**
   * Advances the clock, by default by zero, so that immediate work completes; one second also covers the first retries.
   */
  async settle(seconds = 0): Promise<void> {
    await this.clock.advance(seconds * 1000);
  }

  /** Ends all watches of the controller, and rejects new ones until {@link reconnect}. */
  async disconnect(): Promise<void> {
    this.#isCut = true;
    this.#cut.abort(new Error("cut"));
    await this.settle();
  }

  async reconnect(): Promise<void> {
    this.server.compact();
    this.#isCut = false;
    this.#cut = new AbortController();
    await this.settle(120);
  }

  async create<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    name: string,
    { namespace = "default", owners = [], finalizers = [], more }: Shape = {},
  ): Promise<DeepReadonly<T>> {
    const object = {
      ...more,
      metadata: {
        name,
        ...(definition.namespaced ? { namespace } : {}),
        ownerReferences: [...owners],
        finalizers: [...finalizers],
      },
    };
    const created = await this.admin.resource(definition).create(object as unknown as DeepReadonly<T>);
    await this.settle();
    return created;
  }

  createMap(name: string, shape: Shape = {}) {
    return this.create(configMaps, name, shape);
  }

  /** Returns the object's metadata, or `undefined`. */
  async find(definition: ResourceDefinition, name: string, namespace = "default") {
    try {
      const options = definition.namespaced ? { namespace } : {};
      return (await this.admin.resource(definition).get(name, options)).metadata;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  findMap(name: string, namespace?: string) {
    return this.find(configMaps, name, namespace);
  }

  async delete(
    definition: ResourceDefinition,
    name: string,
    propagationPolicy: "Background" | "Foreground" | "Orphan" = "Background",
    namespace = "default",
  ): Promise<void> {
    await this.admin
      .resource(definition)
      .delete(name, { ...(definition.namespaced ? { namespace } : {}), propagationPolicy });
    await this.settle();
  }

  deleteMap(name: string, propagationPolicy?: "Background" | "Foreground" | "Orphan") {
    return this.delete(configMaps, name, propagationPolicy);
  }

  async patchMap(name: string, metadata: object): Promise<void> {
    await this.admin.resource(configMaps).patch(name, { type: "merge", body: { metadata } }, { namespace: "default" });
    await this.settle();
  }

  async eventTexts(namespace = "default"): Promise<(string | undefined)[]> {
    const { items } = await this.admin.resource(events).list({ namespace });
    return items.map((event) => `${event.type} ${event.reason} ${event.involvedObject.name} ${event.message}`);
  }

  async createWidgetType(): Promise<void> {
    await this.create(customResourceDefinitions, "widgets.example.com", {
      more: {
        spec: {
          group: "example.com",
          names: { kind: "Widget", plural: "widgets", singular: "widget", listKind: "WidgetList" },
          scope: "Namespaced",
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
            },
          ],
        },
      },
    });
    await this.settle(10);
  }

  protected override describe(request: ApiRequest): string | undefined {
    const described = super.describe(request);
    const { propagationPolicy } = (request.body?.type === "decoded" ? request.body.value : {}) as {
      propagationPolicy?: string;
    };
    return propagationPolicy === undefined ? described : `${described} ${propagationPolicy}`;
  }

  override network: ControllerHarness["network"] = (request, serve) => {
    const { method, path, signal } = request;
    const [resource, name] = pathSegmentsOf(path);
    if (resource === undefined) {
      this.discoveryRequests.push(path);
      const code = this.discoveryFaults.get(path);
      return code === undefined ? undefined : refused({ code });
    }
    if (method !== "GET" || name !== undefined) return undefined;
    if (this.#isCut || (this.hidden !== undefined && path.includes(`/${this.hidden}?`))) return refused({ code: 503 });
    const either = signal === undefined ? this.#cut.signal : AbortSignal.any([signal, this.#cut.signal]);
    return serve({ ...request, signal: either });
  };
}

/** Creates a reference to an existing owner. */
export function ownedBy(
  definition: ResourceDefinition,
  owner: Named,
  more: Partial<OwnerReference> = {},
): OwnerReference {
  const { name = "", uid = "" } = owner.metadata;
  return { apiVersion: apiVersionOf(definition), kind: definition.kind, name, uid, ...more };
}

export function ownedByMap(owner: Named, more: Partial<OwnerReference> = {}): OwnerReference {
  return ownedBy(configMaps, owner, more);
}

export function unknownMap(more: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: UNKNOWN_UID, ...more };
}
