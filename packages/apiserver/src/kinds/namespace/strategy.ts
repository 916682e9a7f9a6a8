import { type Namespace, namespaces } from "@kubewright/api";

import { builtInResource, standardVerbs } from "../../built-in-resource.js";
import { restoreMember } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { deleteNamespace, finalizeNamespace } from "./deletion.js";
import { FINALIZER, validateFinalizer } from "./finalizer-validation.js";
import { ageCell, table } from "../table-cells.js";

const NAME_LABEL = "kubernetes.io/metadata.name";

/**
 * The strategy of the Namespace object. Other parts of the server delete namespaces and empty terminating ones.
 *
 * Upstream: `pkg/registry/core/namespace`, `ValidateNamespaceStatusUpdate`.
 */
export const namespaceStrategy: ResourceStrategy<Namespace> = {
  nameFormat: "dns-1123-label",
  deleteReturnsObject: true,
  applyDefaults: setNameLabel,
  prepareForCreate(namespace) {
    setNameLabel(namespace);
    namespace.status = { phase: "Active" };
    const finalizers = namespace.spec?.finalizers ?? [];
    namespace.spec = {
      ...namespace.spec,
      finalizers: finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER],
    };
  },
  prepareForUpdate(namespace, stored) {
    setNameLabel(namespace);
    const finalizers = stored.spec?.finalizers;
    namespace.spec = finalizers === undefined ? {} : { finalizers: [...finalizers] };
    restoreMember(namespace, stored, "status");
  },
  validateCreate({ spec }, errors) {
    for (const finalizer of spec?.finalizers ?? []) validateFinalizer(finalizer, "spec.finalizers", errors);
  },
  status: {
    prepareForUpdate: (namespace, stored) => restoreMember(namespace, stored, "spec"),
    validateUpdate({ metadata, status }, _stored, errors) {
      const phase = status?.phase ?? "";
      if (metadata.deletionTimestamp === undefined) {
        if (phase !== "Active")
          errors.invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty");
      } else if (phase !== "Terminating") {
        errors.invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
      }
    },
  },
  blocksRemoval: ({ spec }) => (spec?.finalizers ?? []).length > 0,
  fieldSelectors: { "status.phase": ({ status }) => status?.phase ?? "" },
  printer: table<Namespace>({ Status: ({ status }) => status?.phase ?? "", Age: ageCell }),
};

export const namespaceResource = builtInResource<Namespace>({
  definition: namespaces,
  shortNames: ["ns"],
  verbs: standardVerbs.filter((verb) => verb !== "deletecollection"),
  strategy: namespaceStrategy,
  subresources: { finalize: { handlers: { update: finalizeNamespace } } },
  remove: deleteNamespace,
});

function setNameLabel({ metadata }: Namespace): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name };
}
