import { type PodTemplateSpec, type StatefulSet, statefulSets } from "@kubewright/api";
import { dnsLabelErrors } from "@kubewright/api/validation";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import { validateAnnotations, validateLabels } from "../../metadata-validation.js";
import type { ResourceStrategy } from "../../strategy.js";
import { addInvalid, validateNonNegative, validateSupported } from "../../validation/rules.js";
import { validateClaimSpec } from "../persistent-volume-claim/spec-validation.js";
import { applyPodTemplateDefaults } from "../pod/template-defaults.js";
import { podTemplateWarnings } from "../pod/warnings.js";
import { internalForm } from "../internal-form.js";
import { ageCell, containerColumns, table } from "../table-cells.js";
import { workloadScale } from "./scale.js";
import { appsTypes } from "./types.js";
import { workloadStrategy } from "./workload-strategy.js";
import {
  validateCollisionCount,
  validateCounts,
  validateLongRunningTemplate,
  validateReplicaCounts,
  validateSelectorAndTemplate,
} from "./workload-validation.js";

type StatefulSetSpec = NonNullable<StatefulSet["spec"]>;
type ClaimTemplate = NonNullable<StatefulSetSpec["volumeClaimTemplates"]>[number];
type Volume = NonNullable<NonNullable<PodTemplateSpec["spec"]>["volumes"]>[number];

const RETENTION_POLICIES = ["Retain", "Delete"];
/** The mutable spec fields. All other fields are immutable. */
const MUTABLE = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
] as const;
const FORBIDDEN_UPDATE = `updates to statefulset spec for fields other than ${MUTABLE.slice(0, -1)
  .map((field) => `'${field}'`)
  .join(", ")} and 'minReadySeconds' are forbidden`;
const emptySpec: StatefulSetSpec = { selector: {}, template: {} };
const newStatus: NonNullable<StatefulSet["status"]> = { replicas: 0, availableReplicas: 0 };

/** Upstream: `pkg/registry/apps/statefulset`, `pkg/apis/apps/validation`. */
export const statefulSetStrategy: ResourceStrategy<StatefulSet> = {
  ...workloadStrategy<StatefulSet>(() => ({ ...newStatus }), validateStatus),
  applyDefaults,
  validate: validateStatefulSet,
  warningsOnCreate: warnings,
  validateUpdate({ spec = emptySpec }, stored, errors) {
    const allowed = { ...(stored.spec ?? emptySpec) } as Record<string, unknown>;
    for (const field of MUTABLE) allowed[field] = spec[field];
    if (!jsonEqual(spec, allowed)) errors.forbidden("spec", FORBIDDEN_UPDATE);
  },
  warningsOnUpdate: (statefulSet, stored) => (jsonEqual(statefulSet.spec, stored.spec) ? [] : warnings(statefulSet)),
  nameFormat: "dns-1123-label",
  printer: table<StatefulSet>({
    Ready: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    Age: ageCell,
    ...containerColumns(({ spec }) => spec?.template.spec),
  }),
};

export const statefulSetResource = builtInResource<StatefulSet>({
  definition: statefulSets,
  shortNames: ["sts"],
  categories: ["all"],
  types: appsTypes,
  strategy: statefulSetStrategy,
  subresources: { scale: workloadScale },
});

function applyDefaults({ spec }: StatefulSet, stored?: StatefulSet): void {
  if (spec === undefined || spec === stored?.spec) return;
  spec.podManagementPolicy ||= "OrderedReady";
  const strategy = (spec.updateStrategy ??= {});
  if (!strategy.type) {
    strategy.type = "RollingUpdate";
    strategy.rollingUpdate ??= {};
  }
  if (strategy.type === "RollingUpdate" && strategy.rollingUpdate !== undefined) {
    strategy.rollingUpdate.partition ??= 0;
    // Upstream's feature gate for more than one unavailable pod is off, so the field is dropped.
    delete strategy.rollingUpdate.maxUnavailable;
  }
  const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {});
  retention.whenDeleted ||= "Retain";
  retention.whenScaled ||= "Retain";
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  applyPodTemplateDefaults(spec.template);
  if (spec.volumeClaimTemplates !== undefined)
    spec.volumeClaimTemplates = spec.volumeClaimTemplates.map(withClaimDefaults);
}

function withClaimDefaults(claim: ClaimTemplate): ClaimTemplate {
  return {
    ...claim,
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    spec: { ...claim.spec, volumeMode: claim.spec?.volumeMode || "Filesystem" },
    status: { ...claim.status, phase: claim.status?.phase || "Pending" },
  };
}

function warnings({ spec }: StatefulSet): string[] {
  const limit = spec?.revisionHistoryLimit;
  return [
    ...podTemplateWarnings(spec?.template, "spec.template"),
    ...(limit !== undefined && limit < 0
      ? ["spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"]
      : []),
  ];
}

function validateStatefulSet({ spec = emptySpec }: StatefulSet, errors: FieldErrors): void {
  const { podManagementPolicy = "", volumeClaimTemplates = [] } = spec;
  if (podManagementPolicy === "") errors.required("spec.podManagementPolicy");
  else if (podManagementPolicy !== "OrderedReady" && podManagementPolicy !== "Parallel")
    errors.invalid("spec.podManagementPolicy", podManagementPolicy, "must be 'OrderedReady' or 'Parallel'");
  validateUpdateStrategy(spec.updateStrategy ?? {}, errors);
  for (const field of ["whenDeleted", "whenScaled"] as const) {
    const policy = spec.persistentVolumeClaimRetentionPolicy?.[field];
    validateSupported(policy, RETENTION_POLICIES, `spec.persistentVolumeClaimRetentionPolicy.${field}`, errors);
  }
  validateNonNegative(spec.replicas, "spec.replicas", errors);
  validateNonNegative(spec.minReadySeconds, "spec.minReadySeconds", errors);
  validateNonNegative(spec.ordinals?.start, "spec.ordinals.start", errors);
  if (spec.serviceName) addInvalid(errors, "spec.serviceName", spec.serviceName, dnsLabelErrors(spec.serviceName));
  for (const [index, claim] of volumeClaimTemplates.entries())
    validateClaimSpec(claim.spec ?? {}, `spec.volumeClaimTemplates[${index}].spec`, errors);
  validateSelectorAndTemplate(spec, "statefulset", errors, (template) => {
    // Upstream validates labels and annotations twice, too.
    validateLabels(template.metadata?.labels ?? {}, "spec.template.labels", errors);
    validateAnnotations(template.metadata?.annotations ?? {}, "spec.template.annotations", errors);
    validateLongRunningTemplate(withClaimVolumes(template, volumeClaimTemplates), "StatefulSet", errors);
  });
}

/**
 * Returns the template with a volume for each claim template. A claim replaces a template volume with the same name.
 */
function withClaimVolumes(template: PodTemplateSpec, claims: readonly ClaimTemplate[]): PodTemplateSpec {
  if (claims.length === 0 || template.spec === undefined) return template;
  const volumes = new Map<string, Volume>();
  for (const { metadata } of claims) {
    const name = metadata?.name ?? "";
    volumes.set(name, { name, persistentVolumeClaim: { claimName: name } });
  }
  const own = (template.spec.volumes ?? []).filter(({ name }) => !volumes.has(name));
  return { ...template, spec: { ...template.spec, volumes: [...volumes.values(), ...own] } };
}

function validateUpdateStrategy(strategy: NonNullable<StatefulSetSpec["updateStrategy"]>, errors: FieldErrors): void {
  const { type = "", rollingUpdate } = strategy;
  const path = "spec.updateStrategy";
  if (type === "") errors.required(path);
  else if (type === "OnDelete") {
    if (rollingUpdate !== undefined)
      errors.invalid(
        `${path}.rollingUpdate`,
        internalForm("RollingUpdateStatefulSetStrategy", rollingUpdate),
        "only allowed for updateStrategy 'RollingUpdate'",
      );
  } else if (type === "RollingUpdate")
    validateNonNegative(rollingUpdate?.partition, `${path}.rollingUpdate.partition`, errors);
  else
    errors.invalid(path, internalForm("StatefulSetUpdateStrategy", strategy), "must be 'RollingUpdate' or 'OnDelete'");
}

function validateStatus({ status = newStatus }: StatefulSet, stored: StatefulSet, errors: FieldErrors): void {
  validateCounts(
    status,
    [
      "replicas",
      "readyReplicas",
      "currentReplicas",
      "updatedReplicas",
      "availableReplicas",
      "observedGeneration",
      "collisionCount",
    ],
    errors,
  );
  validateReplicaCounts(
    status,
    ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
    "status.readyReplicas",
    errors,
  );
  validateCollisionCount(status, stored.status, errors);
}
