import type { KubernetesObject, PodTemplateSpec } from "@kubewright/api";

import { jsonEqual } from "../../json.js";
import type { ResourceStrategy, UpdateStrategy } from "../../strategy.js";
import { podNamePrefixWarnings } from "../job/warnings.js";
import { podTemplateWarnings } from "../pod/warnings.js";
import { specAndStatus } from "../spec-and-status.js";

interface Workload extends KubernetesObject {
  spec?: { template?: PodTemplateSpec };
}

/**
 * The common behavior of kinds that create pods from a template. Spread the result into a strategy before the kind's
 * own members.
 *
 * @param newStatus - Creates the status of a new object.
 */
export function workloadStrategy<T extends Workload>(
  newStatus: () => unknown,
  validateStatus: UpdateStrategy<T>["validateUpdate"],
): Pick<
  Required<ResourceStrategy<T>>,
  keyof ReturnType<typeof specAndStatus> | "podTemplate" | "warningsOnCreate" | "warningsOnUpdate"
> {
  return {
    ...specAndStatus<T>(newStatus, validateStatus),
    podTemplate: ({ spec }) => spec?.template,
    warningsOnCreate: ({ metadata, spec }) => [
      ...podNamePrefixWarnings(metadata.name ?? ""),
      ...podTemplateWarnings(spec?.template, "spec.template"),
    ],
    warningsOnUpdate: ({ spec }, stored) =>
      jsonEqual(spec, stored.spec) ? [] : podTemplateWarnings(spec?.template, "spec.template"),
  };
}
