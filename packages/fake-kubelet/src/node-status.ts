import type { DeepReadonly, Node } from "@kubewright/api";
import { findCondition } from "@kubewright/api";
import type { Random } from "@kubewright/clock";

/** The address of a node that its status names, or one made up from its name. */
export function nodeAddress(node: DeepReadonly<Node> | undefined, name: string, random: Random): string {
  const named = node?.status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
  return named ?? randomAddress("172.18", random.fork(`node/${name}`));
}

/** An IPv4 address in a /16, drawn from `random`. Two may be the same: nothing is ever sent to them. */
export function randomAddress(prefix: string, random: Random): string {
  const bits = random.uint32();
  return `${prefix}.${bits & 0xff}.${1 + ((bits >>> 8) % 254)}`;
}

/**
 * The body of a strategic merge patch that says a node is up, or `undefined` when there is nothing to add. A Ready
 * condition that is there stays as it is, so that a test can take a node down.
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

/** The body of a strategic merge patch that says a node is up again. */
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
