import type { Container, Pod, PodSpec } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import type { UpdateStrategy } from "../../strategy.js";
import { podQosClass } from "./qos-class.js";
import { restoreStoredPod } from "./restore-stored-pod.js";
import { validatePodSpec } from "./spec-validation.js";

type Resources = NonNullable<Container["resources"]>;
type Quantities = Resources["limits"];

const KINDS = ["containers", "initContainers"] as const;
const RESIZED = ["cpu", "memory"];

/**
 * Changes cpu and memory requests and limits of a pod's containers. The server runs no containers, so the status does
 * not change. Upstream: `podResizeStrategy`, `ValidatePodResize`.
 */
export const resizeStrategy: UpdateStrategy<Pod> = {
  resets: "status",
  prepareForUpdate(pod, stored) {
    const wanted = pod.spec;
    restoreStoredPod(pod, stored);
    if (wanted === undefined || pod.spec === undefined) return;
    const spec = { ...pod.spec };
    for (const kind of KINDS) {
      const sent = new Map((wanted[kind] ?? []).map((container) => [container.name, container]));
      if (spec[kind] !== undefined)
        spec[kind] = spec[kind].map((container) => withSentResources(container, sent.get(container.name)));
    }
    if (!jsonEqual(spec, pod.spec)) pod.spec = spec;
  },
  validateUpdate(pod, stored, errors) {
    const { spec } = pod;
    if (spec === undefined || stored.spec === undefined || spec === stored.spec) return;
    if (stored.spec.os?.name === "windows") return errors.forbidden("[]", "windows pods cannot be resized");
    validatePodSpec(spec, "spec", errors, pod.metadata.name ?? "");
    const before = podQosClass(stored);
    if (podQosClass(pod) !== before)
      errors.invalid("spec", before, "Pod QOS Class may not change as a result of resizing");
    for (const kind of KINDS)
      for (const [index, container] of (spec[kind] ?? []).entries())
        validateNotRemoved(container, stored.spec[kind]?.[index], `spec.${kind}[${index}].resources`, errors);
    const allowed = withStoredAmounts(spec, stored.spec);
    if (!jsonEqual(allowed, stored.spec))
      errors.forbidden(
        "spec",
        `only cpu and memory resources are mutable\n- ${JSON.stringify(stored.spec)}\n+ ${JSON.stringify(allowed)}`,
      );
  },
  bumpsGeneration: (pod, stored) => !jsonEqual(pod.spec, stored.spec),
};

/** Returns the stored container with the sent resources and resize policy. */
function withSentResources(container: Container, sent: Container | undefined): Container {
  if (sent === undefined) return container;
  const { resources: _resources, resizePolicy: _resizePolicy, ...rest } = container;
  return {
    ...rest,
    ...(sent.resources === undefined ? {} : { resources: sent.resources }),
    ...(sent.resizePolicy === undefined ? {} : { resizePolicy: sent.resizePolicy }),
  };
}

function validateNotRemoved(
  { resources }: Container,
  stored: Container | undefined,
  path: string,
  errors: FieldErrors,
): void {
  for (const [member, memberText] of [
    ["requests", "requests"],
    ["limits", "limits"],
  ] as const) {
    const names = Object.keys(stored?.resources?.[member] ?? {});
    if (names.some((name) => resources?.[member]?.[name] === undefined))
      errors.forbidden(`${path}.${member}`, `resource ${memberText} cannot be removed`);
  }
}

/** Returns the new spec with the stored amounts of resizable resources. The result must equal the stored spec. */
function withStoredAmounts(spec: PodSpec, stored: PodSpec): PodSpec {
  const result = { ...spec };
  for (const kind of KINDS)
    if (spec[kind] !== undefined)
      result[kind] = spec[kind].map((container, index) => withAmountsOf(container, stored[kind]?.[index]));
  return result;
}

function withAmountsOf(container: Container, stored: Container | undefined): Container {
  if (container.resources === undefined && stored?.resources === undefined) return container;
  const resources: Resources = { ...container.resources };
  for (const member of ["requests", "limits"] as const) {
    const amounts = withStored(resources[member], stored?.resources?.[member]);
    if (amounts === undefined) delete resources[member];
    else resources[member] = amounts;
  }
  return { ...container, resources };
}

function withStored(wanted: Quantities, stored: Quantities): Quantities {
  const amounts = { ...wanted };
  for (const name of RESIZED) {
    if (stored?.[name] === undefined) delete amounts[name];
    else amounts[name] = stored[name];
  }
  return Object.keys(amounts).length === 0 && stored === undefined ? undefined : amounts;
}
