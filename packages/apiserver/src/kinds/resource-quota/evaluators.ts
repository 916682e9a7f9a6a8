import type { Container, KubernetesObject, PersistentVolumeClaim, Pod, Quantity, Service } from "@kubewright/api";

import { qualifiedResource } from "../../api-error.js";
import type { AdmissionAttributes } from "../../registry/admission.js";
import type { ServedResource } from "../../served-resource.js";
import { type Amounts, amountsOf, podResources } from "../pod/pod-resources.js";
import { isExtendedResource } from "../pod/resource-names.js";
import { storageClassNameOf } from "../storage-class/storage-class-lookup.js";
import { isPodInScope, type QuotaSpec, scopesOf } from "./scopes.js";

/**
 * Computes how objects of one resource count against quotas. Upstream: `quota.Evaluator`,
 * `pkg/quota/v1/evaluator/core`.
 */
export interface Evaluator {
  /** Whether such a request can increase usage. */
  handles(attributes: AdmissionAttributes): boolean;
  /** Whether the evaluator counts the quota resource with that name. */
  counts(name: string): boolean;
  isInScope(object: KubernetesObject, spec: QuotaSpec): boolean;
  /** Returns why an object lacks required fields for the limited resources; `undefined` when it lacks none. */
  constraintError?(object: KubernetesObject, limited: readonly string[]): string | undefined;
  /** Returns the usage of an object. */
  usage(object: KubernetesObject): Amounts;
}

const ONE: Quantity = { nanos: 1_000_000_000n, format: "DecimalSI" };
const ZERO: Quantity = { nanos: 0n, format: "DecimalSI" };
/** Resources that could be counted by their plain name before `count/…` existed. */
const PLAIN_NAME_COUNTS = new Set(["configmaps", "resourcequotas", "replicationcontrollers", "secrets"]);
const COMPUTE = ["cpu", "memory", "ephemeral-storage"] as const;
const POD_RESOURCES = new Set([
  "count/pods",
  "pods",
  ...COMPUTE.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
/** Resources that each container must specify when a quota limits them. */
const REQUIRED_OF_CONTAINERS = new Set([
  "cpu",
  "memory",
  "requests.cpu",
  "requests.memory",
  "limits.cpu",
  "limits.memory",
]);
const STORAGE_CLASS_INFIX = ".storageclass.storage.k8s.io/";

/** Returns the evaluator of a resource. All namespaced resources can be counted. */
export function evaluatorOf(resource: ServedResource): Evaluator {
  const name = qualifiedResource(resource);
  if (name === "pods") return podEvaluator;
  if (name === "services") return serviceEvaluator;
  if (name === "persistentvolumeclaims") return claimEvaluator;
  const names = [`count/${name}`, ...(PLAIN_NAME_COUNTS.has(name) ? [name] : [])];
  const usage = new Map(names.map((counted) => [counted, ONE]));
  return {
    handles: ({ operation, subresource }) => operation === "CREATE" && subresource === "",
    counts: (limited) => usage.has(limited),
    isInScope: (_object, spec) => scopesOf(spec).length === 0,
    usage: () => usage,
  };
}

const podEvaluator: Evaluator = {
  handles: ({ operation, subresource }) =>
    subresource === "" ? operation === "CREATE" : subresource === "resize" && operation === "UPDATE",
  counts: (name) =>
    POD_RESOURCES.has(name) ||
    /^(requests\.)?hugepages-/.test(name) ||
    (name.startsWith("requests.") && isExtendedResource(name.slice("requests.".length))),
  isInScope: (object, spec) => scopesOf(spec).every((scope) => isPodInScope(object as Pod, scope)),
  constraintError(object, limited) {
    const { spec } = object as Pod;
    // With pod-level resources, containers need not specify them.
    if (spec === undefined || spec.resources !== undefined) return undefined;
    const required = limited.filter((name) => REQUIRED_OF_CONTAINERS.has(name)).sort();
    const sentences = required.flatMap((name) => {
      const withoutAmount = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].filter(
        (container) => !containerUsage(container).has(name),
      );
      const names = [...new Set(withoutAmount.map((container) => container.name))].sort();
      return names.length === 0 ? [] : [`${name} for: ${names.join(",")}`];
    });
    return sentences.length === 0 ? undefined : `must specify ${sentences.join("; ")}`;
  },
  usage(object) {
    const pod = object as Pod;
    const usage = new Map([["count/pods", ONE]]);
    if (pod.spec === undefined || hasEnded(pod)) return usage;
    for (const [name, amount] of computeUsage(podResources(pod.spec, "requests"), podResources(pod.spec, "limits")))
      usage.set(name, amount);
    return usage.set("pods", ONE);
  },
};

/** Whether the pod has ended. Ended pods use no resources. Upstream: `QuotaV1Pod`. */
function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

function containerUsage({ resources }: Container): Amounts {
  return computeUsage(amountsOf(resources?.requests), amountsOf(resources?.limits));
}

/** Upstream: `podComputeUsageHelper`. */
function computeUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage = new Map<string, Quantity>();
  for (const name of COMPUTE) {
    const request = requests.get(name);
    const limit = limits.get(name);
    if (request !== undefined) usage.set(name, request).set(`requests.${name}`, request);
    if (limit !== undefined) usage.set(`limits.${name}`, limit);
  }
  for (const [name, request] of requests) {
    if (name.startsWith("hugepages-")) usage.set(name, request).set(`requests.${name}`, request);
    if (isExtendedResource(name)) usage.set(`requests.${name}`, request);
  }
  return usage;
}

const SERVICE_RESOURCES = new Set(["count/services", "services", "services.nodeports", "services.loadbalancers"]);

const serviceEvaluator: Evaluator = {
  handles: ({ operation, subresource }) => subresource === "" && operation !== "DELETE",
  counts: (name) => SERVICE_RESOURCES.has(name),
  isInScope: (_object, spec) => scopesOf(spec).length === 0,
  usage(object) {
    const { type, ports = [], allocateLoadBalancerNodePorts } = (object as Service).spec ?? {};
    const usage = new Map([
      ["count/services", ONE],
      ["services", ONE],
      ["services.nodeports", ZERO],
      ["services.loadbalancers", ZERO],
    ]);
    const explicitPorts = ports.filter(({ nodePort }) => Boolean(nodePort)).length;
    const nodePorts =
      type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false)
        ? ports.length
        : type === "LoadBalancer"
          ? explicitPorts
          : 0;
    if (nodePorts > 0) usage.set("services.nodeports", { ...ONE, nanos: ONE.nanos * BigInt(nodePorts) });
    if (type === "LoadBalancer") usage.set("services.loadbalancers", ONE);
    return usage;
  },
};

const CLAIM_RESOURCES = new Set(["count/persistentvolumeclaims", "persistentvolumeclaims", "requests.storage"]);

const claimEvaluator: Evaluator = {
  handles: ({ operation, subresource }) => subresource === "" && operation !== "DELETE",
  counts: (name) =>
    CLAIM_RESOURCES.has(name) ||
    name.endsWith(`${STORAGE_CLASS_INFIX}requests.storage`) ||
    name.endsWith(`${STORAGE_CLASS_INFIX}persistentvolumeclaims`),
  isInScope: (_object, spec) => scopesOf(spec).length === 0,
  usage(object) {
    const claim = object as PersistentVolumeClaim;
    const storageClass = storageClassNameOf(claim);
    const usage = new Map([
      ["count/persistentvolumeclaims", ONE],
      ["persistentvolumeclaims", ONE],
    ]);
    const request = amountsOf(claim.spec?.resources?.requests).get("storage");
    // A claim whose volume could not be expanded still uses the allocated amount.
    const allocated = amountsOf(claim.status?.allocatedResources).get("storage");
    const storage = allocated !== undefined && allocated.nanos > (request?.nanos ?? 0n) ? allocated : request;
    if (storageClass) usage.set(`${storageClass}${STORAGE_CLASS_INFIX}persistentvolumeclaims`, ONE);
    if (storage === undefined) return usage;
    if (storageClass) usage.set(`${storageClass}${STORAGE_CLASS_INFIX}requests.storage`, storage);
    return usage.set("requests.storage", storage);
  },
};
