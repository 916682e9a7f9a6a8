import { type Node, formatTime, nodes } from "@kubewright/api";
import { type Client, StatusError, isAlreadyExists } from "@kubewright/client";

/** Capacity and metadata of a node of the simulated cluster. */
export interface NodeShape {
  readonly name: string;
  /** Kubernetes quantities, e.g. `"8"` cores and `"32Gi"`. */
  readonly cpu: string;
  readonly memory: string;
  readonly pods: number;
  /** Further resources, e.g. `nvidia.com/gpu`. */
  readonly resources?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

/** Three nodes with the default 110 pods each. */
export const defaultNodes: readonly NodeShape[] = [1, 2, 3].map((number) => ({
  name: `node-${number}`,
  cpu: "16",
  memory: "64Gi",
  pods: 110,
}));

/** Thrown when the API server refuses a node, because a name, quantity, label or taint of its shape is invalid. */
export class InvalidNodeError extends Error {
  override readonly name = "InvalidNodeError";
}

/**
 * Registers the nodes as Ready, as their kubelets would. A node that exists already (restored, or created from a
 * manifest) stays unchanged.
 *
 * @throws InvalidNodeError for an invalid shape.
 */
export async function registerNodes(client: Client, shapes: readonly NodeShape[], nowMs: number): Promise<void> {
  for (const shape of shapes) {
    try {
      await client.resource(nodes).create(nodeObject(shape, nowMs));
    } catch (error) {
      if (isAlreadyExists(error)) continue;
      throw error instanceof StatusError ? new InvalidNodeError(error.message, { cause: error }) : error;
    }
  }
}

/** Returns the Node of a shape, Ready since the given time. */
export function nodeObject(shape: NodeShape, nowMs: number): Node {
  const { name, cpu, memory, pods, labels, taints } = shape;
  const resources = { cpu, memory, pods: String(pods), ...shape.resources };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        ...labels,
      },
    },
    spec: taints === undefined ? {} : { taints: [...taints] },
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "KubeletReady",
          message: "kubelet is posting ready status",
          lastHeartbeatTime: formatTime(nowMs),
          lastTransitionTime: formatTime(nowMs),
        },
      ],
    },
  };
}
