import { defaultNodes } from "@kubewright/cluster";

import type { Manifest } from "../input/manifest.js";
import { cpuMillisOf } from "./requested-cpu.js";
import { memoryBytesOf } from "./requested-memory.js";
import { coresText, memoryText } from "../text/requests-text.js";
import type { SimulationOptions } from "../run/simulation.js";

/** Labels in which providers and autoscalers write the pool of a node. The first one that is set counts. */
const POOL_LABELS = [
  "karpenter.sh/nodepool",
  "cloud.google.com/gke-nodepool",
  "eks.amazonaws.com/nodegroup",
  "alpha.eksctl.io/nodegroup-name",
  "kubernetes.azure.com/agentpool",
  "agentpool",
  "oke.oraclecloud.com/node-pool",
  "doks.digitalocean.com/node-pool",
  "k8s.scaleway.com/pool-name",
  "ibm-cloud.kubernetes.io/worker-pool-name",
  "lke.linode.com/pool-id",
  "kops.k8s.io/instancegroup",
  "magnum.openstack.org/nodegroup",
  "cluster.x-k8s.io/deployment-name",
  "node.kubernetes.io/nodepool",
];

/** The pool of a live cluster's nodes. Only the pods that ran there are known. */
const LIVE_POOL = "nodes of the cluster";
/** The pool of unknown nodes. */
const OTHER_POOL = "other nodes";

/** The fields of a node that determine its pool. */
interface PooledNode {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The scenario's group that the node belongs to. */
  readonly group?: string;
  /** Quantities by resource. */
  readonly allocatable: Readonly<Record<string, string>>;
}

/** The pool of every simulated node, by node name. */
export class NodePools {
  readonly #pools = new Map<string, string>();

  constructor({
    manifests,
    nodes,
    live,
    scenario,
  }: Pick<SimulationOptions, "nodes" | "live"> & {
    readonly manifests: readonly Pick<Manifest, "object">[];
    readonly scenario?: Pick<NonNullable<SimulationOptions["scenario"]>, "nodes">;
  }) {
    for (const { name } of live?.nodes ?? []) this.#pools.set(name, LIVE_POOL);
    for (const { cpu, memory, resources, ...node } of scenario?.nodes ?? nodes ?? defaultNodes)
      this.#add({ ...node, allocatable: { ...resources, cpu, memory } });
    // A Node of a manifest overrides a node of the same name, because it exists first.
    for (const { object } of manifests)
      if (object.kind === "Node") {
        const { metadata, status } = object as NodeManifest;
        const { allocatable = {}, capacity = {} } = status ?? {};
        this.#add({
          name: metadata.name ?? "",
          labels: metadata.labels ?? {},
          allocatable: { ...capacity, ...allocatable },
        });
      }
  }

  of(node: string): string {
    return this.#pools.get(node) ?? OTHER_POOL;
  }

  #add(node: PooledNode): void {
    this.#pools.set(node.name, poolOf(node));
  }
}

interface NodeManifest {
  readonly metadata: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly status?: {
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly capacity?: Readonly<Record<string, string>>;
  };
}

/** Returns the value of a pool label, or the scenario's group, or a description of the node's size. */
function poolOf({ labels = {}, group, allocatable }: PooledNode): string {
  const label = POOL_LABELS.find((name) => labels[name]);
  if (label !== undefined) return labels[label]!;
  if (group !== undefined) return group;
  const { cpu, memory, pods: _pods, "ephemeral-storage": _storage, ...others } = allocatable;
  const devices = Object.entries(others)
    .filter(([name, amount]) => !name.startsWith("hugepages-") && amount !== "0")
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const cores = coresText(cpuMillisOf(cpu));
  return [
    `${cores} ${cores === "1" ? "core" : "cores"}`,
    memoryText(memoryBytesOf(memory)),
    ...devices.map(([name, amount]) => `${amount} ${name}`),
  ].join(", ");
}
