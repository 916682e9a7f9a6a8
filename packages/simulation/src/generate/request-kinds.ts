import type { Answer, RequestSelection } from "../faults/requests.js";

/** A kind of request that a component sends. */
export interface RequestKind {
  readonly component: string;
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
}

const kind = (component: string, verb: string, resource: string): RequestKind => ({
  component,
  verbs: [verb],
  resources: [resource],
});

/** Writes of Kubernetes' controllers. */
const WRITES: readonly RequestKind[] = [
  kind("job-controller", "create", "pods"),
  kind("job-controller", "patch", "pods"),
  kind("job-controller", "delete", "pods"),
  kind("job-controller", "update", "jobs/status"),
  kind("cronjob-controller", "create", "jobs"),
  kind("cronjob-controller", "delete", "jobs"),
  kind("cronjob-controller", "update", "cronjobs/status"),
  kind("ttl-after-finished-controller", "delete", "jobs"),
  kind("pod-garbage-collector-controller", "delete", "pods"),
  kind("pod-garbage-collector-controller", "patch", "pods/status"),
  { component: "garbage-collector-controller", verbs: ["delete"], resources: [] },
  { component: "garbage-collector-controller", verbs: ["patch"], resources: [] },
];

/** Other requests to the API server. */
const OTHER_REQUESTS: readonly RequestKind[] = [
  kind("cronjob-controller", "get", "jobs"),
  kind("ttl-after-finished-controller", "get", "jobs"),
  kind("pod-garbage-collector-controller", "get", "nodes"),
  { component: "garbage-collector-controller", verbs: ["get"], resources: [] },
  kind("kubelet", "patch", "pods/status"),
  kind("kubelet", "delete", "pods"),
  kind("scheduler", "create", "pods/binding"),
  { component: "job-controller", verbs: ["list"], resources: [] },
  { component: "garbage-collector-controller", verbs: ["watch"], resources: [] },
];

/** Caches that lag behind; those with the most influence are listed more than once. */
const CACHES: FaultTargets["caches"] = [
  { kind: "Pod", controller: "job-controller" },
  { kind: "Pod", controller: "job-controller" },
  { kind: "Job", controller: "job-controller" },
  { kind: "Job", controller: "job-controller" },
  { kind: "Job", controller: "cronjob-controller" },
  { kind: "CronJob", controller: "cronjob-controller" },
  { kind: "Pod", controller: "garbage-collector-controller" },
  { kind: "Job", controller: "garbage-collector-controller" },
  { kind: "Pod", controller: "pod-garbage-collector-controller" },
  { kind: "Node", controller: "pod-garbage-collector-controller" },
  { kind: "Job", controller: "ttl-after-finished-controller" },
  { kind: "Pod", controller: "kubelet" },
  { kind: "Pod", controller: "scheduler" },
];

/** What faults can target. */
export interface FaultTargets {
  readonly controllers: readonly string[];
  readonly writes: readonly RequestKind[];
  readonly otherRequests: readonly RequestKind[];
  readonly caches: readonly { readonly kind: string; readonly controller: string }[];
}

/** Kubernetes' controllers, kubelet and scheduler. */
export const KUBERNETES: FaultTargets = {
  controllers: [...new Set(WRITES.map(({ component }) => component))],
  writes: WRITES,
  otherRequests: OTHER_REQUESTS,
  caches: CACHES,
};

/**
 * Returns the fault targets for custom controllers.
 *
 * @param names - Names of the controllers in plans.
 * @param kinds - Kinds that they may watch.
 */
export function targetsOf(names: readonly string[], kinds: readonly string[]): FaultTargets {
  const requests = (verb: string): RequestKind[] =>
    names.map((component) => ({ component, verbs: [verb], resources: [] }));
  return {
    controllers: names,
    writes: ["create", "update", "patch", "delete"].flatMap(requests),
    otherRequests: ["get", "list", "watch"].flatMap(requests),
    caches: names.flatMap((controller) => kinds.map((kind) => ({ kind, controller }))),
  };
}

/** Returns the conditions of an event that select these requests. */
export function selection({
  component,
  verbs,
  resources,
}: RequestKind): Pick<RequestSelection, "components" | "verbs" | "resources"> {
  return { components: [component], verbs, ...(resources.length === 0 ? {} : { resources }) };
}

/**
 * Returns responses with which an API server may refuse such a request. None of them is false: no existing object is
 * reported missing, and no missing one existing.
 */
export function refusals({ verbs: [verb] }: RequestKind): readonly Answer[] {
  const always = [500, 503, 504, 429, "timeout"] as const;
  switch (verb) {
    case "create":
      return [...always, 403];
    case "update":
    case "patch":
      return [...always, 409];
    default:
      return always;
  }
}

/** Responses to a request that took effect and whose own response was lost. */
export const LOST_RESPONSES: readonly Answer[] = ["timeout", "timeout", 504, 500];

export function isWrite({ verbs: [verb = ""] }: RequestKind): boolean {
  return ["create", "update", "patch", "delete"].includes(verb);
}
