import { type Pod, type PodSpec, type RuntimeClass, runtimeClasses } from "@kubewright/api";

import { forbidden } from "../api-error.js";
import { copyMembers, jsonEqual } from "../json.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.js";

/**
 * Requires that the RuntimeClass of a new pod exists, and sets the overhead and scheduling fields from it.
 *
 * Upstream: `plugin/pkg/admission/runtimeclass`.
 */
export const runtimeClassAdmission: AdmissionPlugin = {
  concerns: ({ group, resource }) => group === "" && resource === "pods",
  // Manifests may name classes that their original cluster provides. A server without default objects and without any
  // classes ignores the name.
  isIdle: (server) => !server.hasDefaultObjects && (server.registry.storageOf(runtimeClasses)?.size ?? 0) === 0,
  mutate(attributes) {
    const pod = attributes.object as Pod;
    const runtimeClass = runtimeClassOf(attributes);
    if (pod.spec === undefined || runtimeClass === undefined) return;
    // The spec may be shared with a pod template.
    pod.spec = copyMembers(pod.spec);
    setOverhead(attributes, pod.spec, runtimeClass);
    setScheduling(attributes, pod.spec, runtimeClass);
  },
  validate(attributes) {
    const { operation, subresource, object } = attributes;
    const overhead = (object as Partial<Pod> | undefined)?.spec?.overhead;
    if (operation !== "CREATE" || subresource !== "" || overhead === undefined) return;
    const declared = runtimeClassOf(attributes)?.overhead;
    if (declared === undefined)
      throw rejection(attributes, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
    if (!jsonEqual(overhead, declared.podFixed ?? {})) throw rejection(attributes, MISMATCH);
  },
};

const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/**
 * Returns the RuntimeClass of a new pod; `undefined` for other requests and for pods without a class.
 *
 * @throws ApiError 403 when the class does not exist
 */
function runtimeClassOf(attributes: AdmissionAttributes): RuntimeClass | undefined {
  const { operation, subresource, object, server } = attributes;
  const name = (object as Partial<Pod> | undefined)?.spec?.runtimeClassName;
  if (operation !== "CREATE" || subresource !== "" || name === undefined) return undefined;
  const stored = server.registry.storageOf(runtimeClasses)?.get("", name);
  if (stored === undefined) throw rejection(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  return stored.object as RuntimeClass;
}

function setOverhead(attributes: AdmissionAttributes, spec: PodSpec, { overhead }: RuntimeClass): void {
  if (overhead === undefined) return;
  const podFixed = overhead.podFixed ?? {};
  if (spec.overhead !== undefined && !jsonEqual(spec.overhead, podFixed)) throw rejection(attributes, MISMATCH);
  spec.overhead = { ...podFixed };
}

function setScheduling(attributes: AdmissionAttributes, spec: PodSpec, { scheduling }: RuntimeClass): void {
  if (scheduling === undefined) return;
  const wanted = Object.entries(scheduling.nodeSelector ?? {});
  for (const [key, value] of wanted) {
    const own = spec.nodeSelector?.[key];
    if (own !== undefined && own !== value)
      throw rejection(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
      );
  }
  if (wanted.length > 0) spec.nodeSelector = { ...spec.nodeSelector, ...Object.fromEntries(wanted) };
  const own = spec.tolerations ?? [];
  const added = (scheduling.tolerations ?? []).filter(
    (toleration) => !own.some((known) => jsonEqual(known, toleration)),
  );
  if (added.length > 0) spec.tolerations = [...own, ...added.map((toleration) => ({ ...toleration }))];
}

function rejection({ resource, object, name }: AdmissionAttributes, reason: string): Error {
  return forbidden(resource, name || (object?.metadata.generateName ?? ""), reason);
}
