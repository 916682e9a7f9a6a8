import { type Container, type LimitRange, type PersistentVolumeClaim, type Pod, limitRanges } from "@kubewright/api";

import { forbidden } from "../../api-error.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.js";
import { type Amounts, type Resources, amountsOf, podResources } from "../pod/pod-resources.js";
import { type RequestsAndLimits, boundProblems, claimProblems } from "./bounds.js";

type Item = NonNullable<LimitRange["spec"]>["limits"][number];

const ANNOTATION = "kubernetes.io/limit-ranger";
/** Container lists in the order in which defaults and limits are applied. */
const CONTAINERS = [
  ["containers", "container"],
  ["initContainers", "init container"],
] as const;

/**
 * Sets default requests and limits in new pods, and validates pods and claims against the limits of their namespace.
 * Pod templates are not checked.
 *
 * Upstream: plugin `LimitRanger`.
 */
export const limitRangeAdmission: AdmissionPlugin = {
  concerns: ({ group, resource }) => group === "" && (resource === "pods" || resource === "persistentvolumeclaims"),
  isIdle: (server) => (server.registry.storageOf(limitRanges)?.size ?? 0) === 0,
  mutate(attributes) {
    if (attributes.resource.resource !== "pods" || !isLimited(attributes)) return;
    for (const items of limitsOf(attributes)) setDefaults(attributes.object as Pod, items);
  },
  validate(attributes) {
    if (!isLimited(attributes)) return;
    const { resource, name, object } = attributes;
    for (const items of limitsOf(attributes)) {
      const problems = new Set(
        resource.resource === "pods"
          ? podProblems(object as Pod, items)
          : claimProblems((object as PersistentVolumeClaim).spec?.resources?.requests, items),
      );
      const [first = ""] = problems;
      if (problems.size > 0)
        throw forbidden(resource, name, problems.size === 1 ? first : `[${[...problems].join(", ")}]`);
    }
  },
};

/** Upstream: `DefaultLimitRangerActions.SupportsAttributes`. */
function isLimited({ resource, subresource, operation, oldObject }: AdmissionAttributes): boolean {
  if (operation === "DELETE" || oldObject?.metadata.deletionTimestamp) return false;
  if (resource.resource === "pods" && operation === "UPDATE") return subresource === "resize";
  return subresource === "";
}

/** Yields the limits of each LimitRange in the namespace. */
function* limitsOf({ server, namespace }: AdmissionAttributes): Generator<readonly Item[]> {
  for (const { object } of server.registry.storageOf(limitRanges)?.list(namespace) ?? [])
    yield (object as LimitRange).spec?.limits ?? [];
}

/** Upstream: `mergePodResourceRequirements`. */
function setDefaults(pod: Pod, items: readonly Item[]): void {
  const ofContainers = items.filter(({ type }) => type === "Container");
  const requests: Resources = Object.assign({}, ...ofContainers.map(({ defaultRequest }) => defaultRequest ?? {}));
  const limits: Resources = Object.assign({}, ...ofContainers.map((item) => item.default ?? {}));
  const changes: string[] = [];
  // The spec may be shared with a pod template.
  const spec = { ...pod.spec! };
  for (const [member, containerType] of CONTAINERS) {
    if (spec[member] === undefined) continue;
    spec[member] = spec[member].map((container) => {
      const missing = {
        requests: missingDefaults(container, "requests", requests),
        limits: missingDefaults(container, "limits", limits),
      };
      const resources = { ...container.resources };
      for (const side of ["requests", "limits"] as const) {
        const names = Object.keys(missing[side]).sort();
        if (names.length === 0) continue;
        resources[side] = { ...resources[side], ...missing[side] };
        changes.push(`${names.join(", ")} ${side.slice(0, -1)} for ${containerType} ${container.name}`);
      }
      return { ...container, resources };
    });
  }
  if (changes.length === 0) return;
  pod.spec = spec;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${changes.join("; ")}`,
  };
}

function missingDefaults({ resources }: Container, side: "requests" | "limits", defaults: Resources): Resources {
  const given = resources?.[side] ?? {};
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => given[name] === undefined));
}

/** Upstream: `PodValidateLimitFunc`. */
function podProblems({ spec }: Pod, items: readonly Item[]): string[] {
  if (spec === undefined) return [];
  const ofContainer = ({ resources }: Container): RequestsAndLimits => ({
    requests: amountsOf(resources?.requests),
    limits: amountsOf(resources?.limits),
  });
  const problems: string[] = [];
  for (const item of items) {
    if (item.type === "Container")
      for (const [member] of CONTAINERS)
        for (const container of spec[member] ?? []) problems.push(...boundProblems(item, ofContainer(container)));
    if (item.type === "Pod") {
      const podAmounts = (side: "requests" | "limits"): Amounts => podResources(spec, side);
      problems.push(...boundProblems(item, { requests: podAmounts("requests"), limits: podAmounts("limits") }));
    }
  }
  return problems;
}
