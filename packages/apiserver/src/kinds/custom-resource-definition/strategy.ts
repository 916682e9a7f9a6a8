import { type CustomResourceDefinition, customResourceDefinitions } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import { jsonEqual, restoreMember } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { deleteDefinition } from "./deletion.js";
import { unknownFormats } from "./unknown-formats.js";
import { validateDefinition, validateDefinitionUpdate } from "./validation.js";

/**
 * The strategy of the CustomResourceDefinition object. The server sets its conditions and serves its resources.
 *
 * Upstream: apiextensions-apiserver `pkg/registry/customresourcedefinition`.
 */
export const customResourceDefinitionStrategy: ResourceStrategy<CustomResourceDefinition> = {
  allowUnconditionalUpdate: false,
  bumpsGeneration: ({ spec }, stored) => !jsonEqual(spec, stored.spec),
  applyDefaults({ spec }) {
    spec.names ??= { kind: "", plural: "" };
    spec.names.singular ||= spec.names.kind?.toLowerCase() ?? "";
    spec.names.listKind ||= spec.names.kind ? `${spec.names.kind}List` : "";
    spec.conversion ??= { strategy: "None" };
    for (const version of spec.versions ?? []) {
      version.served ??= false;
      version.storage ??= false;
    }
  },
  prepareForCreate(definition) {
    definition.metadata.generation = 1;
    const storage = definition.spec.versions?.find((version) => version.storage);
    definition.status = {
      acceptedNames: { kind: "", plural: "" },
      // Go writes the absent list as null.
      conditions: null as unknown as [],
      ...(storage === undefined ? {} : { storedVersions: [storage.name] }),
    };
  },
  prepareForUpdate(definition, stored) {
    restoreMember(definition, stored, "status");
    const storage = definition.spec.versions?.find((version) => version.storage)?.name;
    const storedVersions = definition.status?.storedVersions ?? [];
    if (storage !== undefined && !storedVersions.includes(storage))
      definition.status = { ...definition.status, storedVersions: [...storedVersions, storage] };
  },
  validateCreate: validateDefinition,
  validateUpdate: validateDefinitionUpdate,
  warningsOnCreate: ({ spec }) => unknownFormats(spec),
  warningsOnUpdate: ({ spec }, stored) => {
    const known = new Set(unknownFormats(stored.spec));
    return unknownFormats(spec).filter((warning) => !known.has(warning));
  },
  status: { prepareForUpdate: (definition, stored) => restoreMember(definition, stored, "spec") },
};

export const customResourceDefinitionResource = builtInResource<CustomResourceDefinition>({
  definition: customResourceDefinitions,
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  strategy: customResourceDefinitionStrategy,
  // Upstream still stores them in the version before v1.
  storageVersion: "v1beta1",
  remove: deleteDefinition,
});
