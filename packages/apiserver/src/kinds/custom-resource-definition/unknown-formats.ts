import type { CustomResourceDefinition } from "@kubewright/api";
import { isKnownFormat } from "@kubewright/cel";

import { isJsonObject } from "../../json.js";

/** Returns a warning for each format that is not validated, without duplicates. */
export function unknownFormats({ versions }: CustomResourceDefinition["spec"]): string[] {
  const formats = new Set<string>();
  for (const { schema } of versions ?? []) collect(schema?.openAPIV3Schema, formats);
  return [...formats].map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function collect(schema: unknown, formats: Set<string>): void {
  if (!isJsonObject(schema)) return;
  const { format, properties, additionalProperties, items, allOf, anyOf, oneOf, not } = schema;
  if (typeof format === "string" && format !== "" && !isKnownFormat(format)) formats.add(format);
  for (const part of Object.values(isJsonObject(properties) ? properties : {})) collect(part, formats);
  for (const parts of [allOf, anyOf, oneOf])
    for (const part of Array.isArray(parts) ? (parts as unknown[]) : []) collect(part, formats);
  for (const part of [additionalProperties, items, not]) collect(part, formats);
}
