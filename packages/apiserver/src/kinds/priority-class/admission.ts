import { type Pod, type PriorityClass, priorityClasses } from "@kubewright/api";

import { forbidden } from "../../api-error.js";
import { copyMembers } from "../../json.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.js";
import type { ResourceStorage } from "../../storage/resource-storage.js";
import { isSystemName, systemPriorityClasses } from "./system-classes.js";

type Priority = Pick<PriorityClass, "value" | "preemptionPolicy">;

const NO_CLASS: Priority = {
  value: 0,
  preemptionPolicy: "PreemptLowerPriority",
};

/**
 * Sets the priority of pods from their class, and permits at most one default class.
 *
 * A server without default objects and without any classes admits pods unchanged, because it need not have the classes
 * of the pod's original cluster.
 *
 * Upstream: plugin `Priority`.
 */
export const priorityAdmission: AdmissionPlugin = {
  concerns: ({ group, resource }) => group === "scheduling.k8s.io" || (group === "" && resource === "pods"),
  isIdle: (server) => !server.hasDefaultObjects && (server.registry.storageOf(priorityClasses)?.size ?? 0) === 0,
  mutate(attributes) {
    const { resource, subresource, operation, object, oldObject } = attributes;
    if (resource.resource !== "pods" || subresource !== "") return;
    if (operation === "CREATE") setPriority(attributes);
    else keepPriority(object as Pod, oldObject as Pod);
  },
  validate(attributes) {
    const { resource, name, operation, object, oldObject, server } = attributes;
    if (resource.resource !== "priorityclasses") return;
    if (operation === "DELETE") {
      const own = oldObject?.metadata.name ?? "";
      if (systemPriorityClasses.some(({ metadata }) => metadata.name === own))
        throw forbidden(resource, own, "this is a system priority class and cannot be deleted");
      return;
    }
    if ((object as PriorityClass).globalDefault !== true) return;
    const other = defaultPriorityClass(server.registry.storageOf(priorityClasses))?.metadata.name;
    if (other !== undefined && (operation === "CREATE" || other !== name))
      throw forbidden(
        resource,
        name,
        `PriorityClass ${other} is already marked as default. Only one default can exist`,
      );
  },
};

function setPriority({ resource, name, object, server }: AdmissionAttributes): void {
  const pod = object as Pod;
  const spec = copyMembers(pod.spec ?? { containers: [] });
  const classes = server.registry.storageOf(priorityClasses);
  let found: Priority = NO_CLASS;
  if (spec.priorityClassName) found = namedClass(classes, spec.priorityClassName) ?? refuse(spec.priorityClassName);
  else {
    const defaultClass = defaultPriorityClass(classes);
    if (defaultClass !== undefined) {
      found = defaultClass;
      spec.priorityClassName = defaultClass.metadata.name!;
    }
  }
  const refuseMismatch = (field: string, given: string | number, wanted: string | number): never => {
    const text = `the ${field} (${given}) must not be provided in pod spec; priority admission controller computed ${wanted} from the given PriorityClass name`;
    throw forbidden(resource, name, text);
  };
  const { value = 0, preemptionPolicy } = found;
  if (spec.priority !== undefined && spec.priority !== value)
    refuseMismatch("integer value of priority", spec.priority, value);
  spec.priority = value;
  if (preemptionPolicy !== undefined) {
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy)
      refuseMismatch("string value of PreemptionPolicy", spec.preemptionPolicy, preemptionPolicy);
    spec.preemptionPolicy = preemptionPolicy;
  }
  // The spec may be shared with a pod template.
  pod.spec = spec;

  function refuse(className: string): never {
    throw forbidden(resource, name, `no PriorityClass with name ${className} was found`);
  }
}

/** Keeps the stored priority when an update omits it. */
function keepPriority(pod: Pod, stored: Pod): void {
  const { priority, preemptionPolicy } = stored.spec ?? {};
  if (pod.spec === undefined || pod.spec === stored.spec) return;
  if (pod.spec.priority === undefined && priority !== undefined) pod.spec = { ...pod.spec, priority };
  if (pod.spec.preemptionPolicy === undefined && preemptionPolicy !== undefined)
    pod.spec = { ...pod.spec, preemptionPolicy };
}

function namedClass(classes: ResourceStorage | undefined, name: string): PriorityClass | undefined {
  const stored: PriorityClass | undefined = classes?.get("", name)?.object;
  if (stored !== undefined || !isSystemName(name)) return stored;
  return systemPriorityClasses.find(({ metadata }) => metadata.name === name);
}

/** Returns the default class with the lowest value. */
function defaultPriorityClass(classes: ResourceStorage | undefined): PriorityClass | undefined {
  let lowest: PriorityClass | undefined;
  for (const { object } of classes?.list() ?? []) {
    const candidate = object as PriorityClass;
    const isLower = lowest === undefined || (candidate.value ?? 0) < (lowest.value ?? 0);
    if (candidate.globalDefault === true && isLower) lowest = candidate;
  }
  return lowest;
}
