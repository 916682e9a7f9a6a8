import { type DeepReadonly, type KubernetesObject, type Node, type Pod, nodes, pods } from "@kubewright/api";
import { isNotFound } from "@kubewright/client";

import { ControllerHarness } from "../../controller/test/controller-harness.js";
import { PodGCController, type PodGCControllerOptions, type PodGCDecision } from "../src/index.js";

interface Options extends Partial<PodGCControllerOptions> {
  /** Transforms the objects in the controller's caches. */
  readonly transform?: Transform;
}

export class Harness extends ControllerHarness {
  readonly decisions: PodGCDecision[] = [];
  /** Counts by metric and reason, e.g. `total orphaned`. */
  readonly counts: Record<string, number> = {};
  readonly pods = this.admin.resource(pods);
  readonly nodes = this.admin.resource(nodes);
  readonly #options: Options;

  constructor(options: Options = {}) {
    super();
    this.#options = options;
  }

  start(): Promise<void> {
    const { transform, ...options } = this.#options;
    const count = (metric: string, reason: string): void => {
      this.counts[`${metric} ${reason}`] = (this.counts[`${metric} ${reason}`] ?? 0) + 1;
    };
    const metrics: PodGCControllerOptions["metrics"] = {
      forceDeletedPod: ({ reason }) => count("total", reason),
      forceDeletePodError: ({ reason }) => count("error", reason),
    };
    const onDecision = (decision: PodGCDecision): void => void this.decisions.push(decision);
    return this.runController((deps) => new PodGCController({ ...deps, metrics, onDecision, ...options }), {
      transform,
    });
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
}

type Transform = <T extends KubernetesObject>(object: DeepReadonly<T>) => DeepReadonly<T>;

export interface PodShape {
  readonly node?: string;
  readonly phase?: string;
  readonly spec?: Partial<NonNullable<Pod["spec"]>>;
  readonly status?: Pod["status"];
  readonly finalizers?: readonly string[];
}
