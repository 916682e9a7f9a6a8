import { type ConfigMap, configMaps } from "@kubewright/api";
import { byteLength, configKeyErrors } from "@kubewright/api/validation";

import { builtInResource } from "../built-in-resource.js";
import type { FieldErrors } from "../field-errors.js";
import { jsonEqual } from "../json.js";
import type { ResourceStrategy } from "../strategy.js";
import { addInvalid } from "../validation/rules.js";
import { ageCell, table } from "./table-cells.js";

const MAX_BYTES = 1024 * 1024;
export const IMMUTABLE_WHEN_SET = "field is immutable when `immutable` is set";

/** Upstream: `pkg/registry/core/configmap`, `ValidateConfigMap`, `ValidateConfigMapUpdate`. */
export const configMapStrategy: ResourceStrategy<ConfigMap> = {
  validateCreate: validateConfigMap,
  validateUpdate(configMap, stored, errors) {
    if (stored.immutable === true) {
      if (configMap.immutable !== true) errors.forbidden("immutable", IMMUTABLE_WHEN_SET);
      if (!jsonEqual(configMap.data ?? {}, stored.data ?? {})) errors.forbidden("data", IMMUTABLE_WHEN_SET);
      if (!jsonEqual(configMap.binaryData ?? {}, stored.binaryData ?? {}))
        errors.forbidden("binaryData", IMMUTABLE_WHEN_SET);
    }
    validateConfigMap(configMap, errors);
  },
  printer: table<ConfigMap>({
    Data: ({ data, binaryData }) => Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
    Age: ageCell,
  }),
};

export const configMapResource = builtInResource<ConfigMap>({
  definition: configMaps,
  shortNames: ["cm"],
  strategy: configMapStrategy,
});

function validateConfigMap({ data = {}, binaryData = {} }: ConfigMap, errors: FieldErrors): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(data)) {
    addInvalid(errors, `data[${key}]`, key, configKeyErrors(key));
    if (Object.hasOwn(binaryData, key)) errors.invalid(`data[${key}]`, key, "duplicate of key present in binaryData");
    bytes += byteLength(value);
  }
  for (const [key, value] of Object.entries(binaryData)) {
    addInvalid(errors, `binaryData[${key}]`, key, configKeyErrors(key));
    bytes += decodedLength(value);
  }
  // An error of the whole object. Upstream prints its empty path as `[]`.
  if (bytes > MAX_BYTES) errors.tooLong("[]", MAX_BYTES);
}

/** Returns the number of bytes that a base64 text encodes. */
export function decodedLength(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}
