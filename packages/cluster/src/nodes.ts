import { type Node, formatTime, nodes } from "@kubewright/api";
import { type Client, StatusError, isAlreadyExists } from "@kubewright/client";

/** A machine of the simulated cluster: room for this much. */
export interface NodeShape {
  readonly name: string;
  /** Kubernetes quantities, e.g. `"8"` cores and `"32Gi"`. */
  readonly cpu: string;
  readonly memory: string;
  readonly pods: number;
  /** What else it offers, e.g. `nvidia.com/gpu`. */
  readonly resources?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

/** Three nodes with the usual 110 pods each. */
export const defaultNodes: readonly NodeShape[] = [1, 2, 3].map((number) => ({
  name: `node-${number}`,
  cpu: "16",
  memory: "64Gi",
  pods: 110,
}));

/** The API server refuses a node: a name, quantity, label or taint of its shape is none. */
export class InvalidNodeError extends Error {
  override readonly name = "InvalidNodeError";
}

/**
 * Registers the nodes as Ready, as their kubelets would. One that exists already (restored, or made by a manifest) is left
 * as it is.
 *
 * @throws InvalidNodeError for a shape that is no node.
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

/** The node of a shape, Ready since a time. */
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
