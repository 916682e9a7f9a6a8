import type { CustomResourceDefinition } from "@kubewright/api";

import type { CustomResourceVersion } from "./custom-resource-version.js";
import { CustomResourceError } from "./schema-problem.js";

type Spec = CustomResourceDefinition["spec"];

/** How the API server converts between versions: `None` only changes `apiVersion`. */
export type CustomResourceConversion = NonNullable<Spec["conversion"]>;

/**
 * Creates the CustomResourceDefinition of a custom resource with several versions.
 *
 * @param stored - The storage version.
 * @param others - The other versions, from `defineVersion`.
 * @throws CustomResourceError when two versions have the same name, or one belongs to another resource.
 */
export function definitionOf(
  stored: CustomResourceVersion,
  others: readonly CustomResourceVersion[] = [],
  conversion?: CustomResourceConversion,
): CustomResourceDefinition {
  const { group, kind, plural, singular, scope, shortNames, categories, annotations, labels } = stored.names;
  const seen = new Set<string>();
  for (const { version, names } of [stored, ...others]) {
    const problem = (text: string): CustomResourceError => new CustomResourceError(kind, [{ path: version, text }]);
    if (names.group !== group || names.plural !== plural)
      throw problem(`is a version of ${names.plural}.${names.group}, not of ${plural}.${group}`);
    if (seen.has(version)) throw problem("is defined twice");
    seen.add(version);
  }
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ...(labels === undefined ? {} : { labels: { ...labels } }),
    },
    spec: {
      group,
      scope,
      names: {
        plural,
        singular,
        kind,
        listKind: `${kind}List`,
        ...(shortNames === undefined ? {} : { shortNames: [...shortNames] }),
        ...(categories === undefined ? {} : { categories: [...categories] }),
      },
      ...(conversion === undefined ? {} : { conversion }),
      versions: [stored, ...others].map((version) => versionOf(version, version === stored)),
    },
  };
}

function versionOf(version: CustomResourceVersion, storage: boolean): Spec["versions"][number] {
  const { deprecated, subresources, printerColumns, selectableFields } = version;
  return {
    name: version.version,
    served: version.served,
    storage,
    ...(deprecated === false ? {} : { deprecated: true }),
    ...(typeof deprecated === "string" ? { deprecationWarning: deprecated } : {}),
    schema: { openAPIV3Schema: structuredClone(version.openAPIV3Schema) as object },
    ...(Object.keys(subresources).length === 0 ? {} : { subresources: structuredClone(subresources) }),
    ...(printerColumns.length === 0 ? {} : { additionalPrinterColumns: structuredClone(printerColumns) }),
    ...(selectableFields.length === 0 ? {} : { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
  };
}
