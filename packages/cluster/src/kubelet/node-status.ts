import type { DeepReadonly, Node } from "@kubewright/api";
import { findCondition } from "@kubewright/api";
import type { Random } from "@kubewright/clock";

/** Returns the address in the node's status, or a generated one. */
export function nodeAddress(node: DeepReadonly<Node> | undefined, name: string, random: Random): string {
  const named = node?.status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
  return named ?? randomAddress("172.18", random.fork(`node/${name}`));
}

/** Generates an IPv4 address in a /16. Duplicates are possible, because nothing is sent to these addresses. */
export function randomAddress(prefix: string, random: Random): string {
  const bits = random.uint32();
  return `${prefix}.${bits & 0xff}.${1 + ((bits >>> 8) % 254)}`;
}

/**
 * Returns the body of a strategic merge patch that makes a node ready, or `undefined` when it is complete. An existing
 * Ready condition is not changed, so that a test can make a node not ready.
 */
export function readyNodeStatus(node: DeepReadonly<Node>, now: string, random: Random): object | undefined {
  const name = node.metadata.name ?? "";
  const ready = findCondition(node.status?.conditions, "Ready") !== undefined;
  const addressed = (node.status?.addresses?.length ?? 0) > 0;
  if (ready && addressed) return undefined;
  return {
    status: {
      ...(ready
        ? {}
        : {
            conditions: [readyCondition(now)],
          }),
      ...(addressed
        ? {}
        : {
            addresses: [
              { type: "InternalIP", address: nodeAddress(node, name, random) },
              { type: "Hostname", address: name },
            ],
          }),
    },
  };
}

/** Returns the body of a strategic merge patch that makes a node ready again. */
export function readyConditionPatch(now: string): object {
  return { status: { conditions: [readyCondition(now)] } };
}

function readyCondition(now: string): object {
  return {
    type: "Ready",
    status: "True",
    reason: "KubeletReady",
    message: "kubelet is posting ready status",
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
}
