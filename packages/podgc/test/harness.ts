import { createApiServer } from "@kubewright/apiserver";
import {
  type DeepReadonly,
  type KubernetesObject,
  type Node,
  type Pod,
  type Status,
  nodes,
  pods,
} from "@kubewright/api";
import { Client, isNotFound } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { InformerFactory } from "@kubewright/informer";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import { PodGCController, type PodGCControllerOptions, type PodGCDecision } from "../src/index.js";

const START = "2026-03-02T10:00:00Z";

/** The controller against an API server, on a simulated clock; its requests are recorded and can be made to fail. */
export class Harness {
  readonly clock = new SimulatedClock(START);
  readonly decisions: PodGCDecision[] = [];
  /** Counts by metric and reason, e.g. `total orphaned`. */
  readonly counts: Record<string, number> = {};
  /** Requests of the controller's client, such as `PATCH pods/a/status` or `GET nodes/n`. */
  readonly requests: string[] = [];
  readonly bodies: unknown[] = [];
  /** Called before a request of the controller is sent; may answer it. */
  intercept: (request: string) => number | Promise<number | void> | void = () => undefined;
  readonly pods;
  readonly nodes;
  readonly #informers: InformerFactory;
  readonly #controller: PodGCController;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor({ transform, ...options }: Partial<PodGCControllerOptions> & { readonly transform?: Transform } = {}) {
    const { clock } = this;
    const random = seededRandom(1);
    const { transport } = createApiServer({ clock, random: random.fork("apiserver"), freeze: true });
    const admin = new Client({ transport, clock });
    this.pods = admin.resource(pods);
    this.nodes = admin.resource(nodes);
    const informers = new InformerFactory({
      client: admin,
      clock,
      random,
      ...(transform === undefined ? {} : { transform }),
    });
    this.#informers = informers;
    const count = (metric: string, reason: string): void => {
      this.counts[`${metric} ${reason}`] = (this.counts[`${metric} ${reason}`] ?? 0) + 1;
    };
    this.#controller = new PodGCController({
      client: new Client({ transport: this.#recording(transport), clock }),
      clock,
      random,
      informers,
      metrics: {
        forceDeletedPod: ({ reason }) => count("total", reason),
        forceDeletePodError: ({ reason }) => count("error", reason),
      },
      onDecision: (decision) => void this.decisions.push(decision),
      ...options,
    });
  }

  async start(): Promise<void> {
    const { signal } = this.#stop;
    this.#running = Promise.all([this.#informers.run(signal), this.#controller.run(signal)]);
    await this.clock.settle();
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("stopped"));
    await this.#running;
  }

  async advance(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1000);
  }

  /** Requests since the last call. */
  sent(): string[] {
    return this.requests.splice(0);
  }

  async createNode(
    name: string,
    { ready = "True", taint = false }: { ready?: string | undefined; taint?: boolean } = {},
  ): Promise<void> {
    const node: Node = {
      metadata: { name },
      spec: taint ? { taints: [{ key: "node.kubernetes.io/out-of-service", value: "any", effect: "NoSchedule" }] } : {},
    };
    await this.nodes.create(node);
    const status: Node["status"] = ready === undefined ? {} : { conditions: [{ type: "Ready", status: ready }] };
    await this.nodes.patch(name, { type: "merge", body: { status } }, { subresource: "status" });
    await this.clock.settle();
  }

  async createPod(name: string, { node, phase, spec, status, finalizers = [] }: PodShape = {}): Promise<void> {
    await this.pods.create({
      metadata: { name, namespace: "default", finalizers: [...finalizers] },
      spec: { containers: [{ name: "c", image: "i" }], ...(node === undefined ? {} : { nodeName: node }), ...spec },
    });
    if (phase !== undefined || status !== undefined) {
      const body = { status: { ...(phase === undefined ? {} : { phase }), ...status } };
      await this.pods.patch(name, { type: "merge", body }, { namespace: "default", subresource: "status" });
    }
    await this.clock.settle();
  }

  async deletePod(name: string, gracePeriodSeconds = 600): Promise<void> {
    await this.pods.delete(name, { namespace: "default", gracePeriodSeconds });
    await this.clock.settle();
  }

  async getPod(name: string): Promise<DeepReadonly<Pod> | undefined> {
    try {
      return await this.pods.get(name, { namespace: "default" });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async podNames(): Promise<(string | undefined)[]> {
    return (await this.pods.list({ namespace: "default" })).items.map(({ metadata }) => metadata.name);
  }

  #recording(transport: Transport): Transport {
    return async (request: ApiRequest): Promise<ApiResponse> => {
      const path = request.path.replace(/^\/api\/v1\/(namespaces\/[^/]+\/)?/, "").replace(/\?.*$/, "");
      this.requests.push(`${request.method} ${path}`);
      if (request.body?.type === "decoded") this.bodies.push(request.body.value);
      const code = await this.intercept(`${request.method} ${path}`);
      if (code === undefined) return transport(request);
      const value: Status = {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "made to fail",
        code,
      };
      return { status: code, headers: {}, body: { type: "decoded", value } };
    };
  }
}

type Transform = <T extends KubernetesObject>(object: DeepReadonly<T>) => DeepReadonly<T>;

export interface PodShape {
  readonly node?: string;
  readonly phase?: string;
  readonly spec?: Partial<NonNullable<Pod["spec"]>>;
  readonly status?: Pod["status"];
  readonly finalizers?: readonly string[];
}
