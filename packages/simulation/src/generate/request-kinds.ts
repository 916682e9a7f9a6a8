import type { Happenings } from "../scenario/scenario-file.js";

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

/** What the controllers write. */
export const WRITES: readonly RequestKind[] = [
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

/** What else is asked of the API server. */
export const OTHER_REQUESTS: readonly RequestKind[] = [
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

/** Which controllers write what. */
export const CONTROLLERS = [...new Set(WRITES.map(({ component }) => component))];

/** The condition of a happening that selects these requests. */
export function selection({
  component,
  verbs,
  resources,
}: RequestKind): Pick<Happenings["requestFails"], "components" | "verbs" | "resources"> {
  return { components: [component], verbs, ...(resources.length === 0 ? {} : { resources }) };
}

type Answer = NonNullable<Happenings["requestFails"]["with"]>;

/**
 * Answers that an API server may give to such a request although it does nothing. None of them lies: an object that is there is
 * never told to be missing, nor one to exist that does not.
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

/** What is heard instead of the answer to a request that was done. */
export const LOST_ANSWERS: readonly Answer[] = ["timeout", "timeout", 504, 500];

export function isWrite({ verbs: [verb = ""] }: RequestKind): boolean {
  return ["create", "update", "patch", "delete"].includes(verb);
}
