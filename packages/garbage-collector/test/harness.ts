import { type ApiServer, createApiServer } from "@kubewright/apiserver";
import {
  type DeepReadonly,
  type KubernetesObject,
  type OwnerReference,
  type ResourceDefinition,
  type Status,
  type UnstructuredObject,
  apiVersionOf,
  configMaps,
  customResourceDefinitions,
  defineResource,
  events,
} from "@kubewright/api";
import { Client, isNotFound } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { InformerFactory } from "@kubewright/informer";
import type { ApiRequest, Transport } from "@kubewright/transport";

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
  /** Its `spec` and so on. */
  readonly more?: object;
}

type Named = Pick<DeepReadonly<KubernetesObject>, "metadata">;

/** The garbage collector against an API server, on a simulated clock. */
export class Harness {
  readonly clock = new SimulatedClock("2026-03-02T10:00:00Z");
  readonly apiServer: ApiServer;
  readonly admin: Client;
  readonly decisions: GarbageDecision[] = [];
  syncErrors = 0;
  /** Requests of the controller for single objects, such as `GET configmaps/a` or `DELETE configmaps/a Background`. */
  readonly requests: string[] = [];
  readonly bodies: unknown[] = [];
  /** Called before such a request is sent; an answered number is the code to refuse it with. */
  intercept: (request: string) => number | void | Promise<number | void> = () => undefined;
  /** Codes to answer discovery requests with, by path. */
  readonly discoveryFaults = new Map<string, number>();
  readonly discoveryRequests: string[] = [];
  /** A resource that the controller can neither list nor watch. */
  hidden: string | undefined;
  readonly #random = seededRandom(1);
  readonly #client: Client;
  #cut = new AbortController();
  #isCut = false;
  #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor() {
    const { clock } = this;
    this.apiServer = createApiServer({ clock, random: this.#random.fork("apiserver"), freeze: true });
    const { transport } = this.apiServer;
    this.admin = new Client({ transport, clock });
    this.#client = new Client({ transport: this.#recording(transport), clock });
  }

  async start(options: Partial<GarbageCollectorOptions> = {}): Promise<void> {
    const { clock } = this;
    this.#stop = new AbortController();
    const random = this.#random;
    const client = this.#client;
    const informers = new InformerFactory({ client, clock, random });
    const collector = new GarbageCollector({
      client,
      clock,
      random,
      informers,
      discoveryIntervalMs: Infinity,
      metrics: { resourcesSyncError: () => void this.syncErrors++ },
      onDecision: (decision) => void this.decisions.push(decision),
      ...options,
    });
    const { signal } = this.#stop;
    this.#running = Promise.all([informers.run(signal), collector.run(signal)]);
    await this.settle();
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("stopped"));
    await this.#running;
  }

  /** Lets everything happen that needs no more than a moment: retries of the first second, for instance. */
  async settle(seconds = 0): Promise<void> {
    await this.clock.advance(seconds * 1000);
  }

  sent(): string[] {
    return this.requests.splice(0);
  }

  /** Ends all watches of the controller, and refuses new ones until {@link reconnect}. */
  async disconnect(): Promise<void> {
    this.#isCut = true;
    this.#cut.abort(new Error("cut"));
    await this.settle();
  }

  async reconnect(): Promise<void> {
    this.apiServer.compact();
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

  /** The object's metadata, or `undefined`. */
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

  async events(namespace = "default"): Promise<(string | undefined)[]> {
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

  #recording(transport: Transport): Transport {
    return async (request) => {
      const described = describe(request);
      if (described === "discovery") {
        this.discoveryRequests.push(request.path);
        return refusal(this.discoveryFaults.get(request.path)) ?? transport(request);
      }
      if (described === "watch") {
        if (this.#isCut || (this.hidden !== undefined && request.path.includes(`/${this.hidden}?`)))
          return refusal(503)!;
        const signal =
          request.signal === undefined ? this.#cut.signal : AbortSignal.any([request.signal, this.#cut.signal]);
        return transport({ ...request, signal });
      }
      if (described.includes(" events")) return transport(request);
      this.requests.push(described);
      if (request.body?.type === "decoded") this.bodies.push(request.body.value);
      return refusal((await this.intercept(described)) ?? undefined) ?? transport(request);
    };
  }
}

/** A reference to an owner, as it is. */
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

function describe({ method, path, body }: ApiRequest): string {
  const [resource = "", name, ...rest] = path
    .replace(/\?.*$/, "")
    .replace(/^\/(api|apis\/[^/]+)\/[^/]+\/?/, "")
    .replace(/^namespaces\/default\/(?=[^/]+)/, "")
    .replace(/^namespaces\/([^/]+)\/(?=[^/]+\/)/, "$1:")
    .split("/");
  if (path === "/apis" || resource === "") return "discovery";
  if (method === "GET" && name === undefined) return "watch";
  const value = body?.type === "decoded" ? (body.value as { propagationPolicy?: string }) : {};
  const suffix = value.propagationPolicy === undefined ? "" : ` ${value.propagationPolicy}`;
  return `${method} ${[resource, name, ...rest].filter(Boolean).join("/")}${suffix}`;
}

function refusal(code: number | undefined) {
  if (code === undefined) return undefined;
  const value: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "made to fail",
    code,
  };
  return { status: code, headers: {}, body: { type: "decoded" as const, value } };
}
