import { readFile } from "node:fs/promises";
import path from "node:path";

import { expect, test } from "vitest";

import type { CustomResourceOptions } from "./custom-resource.js";
import type { CustomResourceSchema } from "./custom-resource-schema.js";
import type { VersionConversion } from "./define-version.js";
import type { KubernetesObject } from "@kubewright/api";

type Option =
  | keyof CustomResourceOptions<CustomResourceSchema, CustomResourceSchema>
  | keyof VersionConversion<KubernetesObject, KubernetesObject>;

/** Every option. The compiler rejects a missing and an unknown one. */
const OPTIONS: Readonly<Record<Option, true>> = {
  group: true,
  kind: true,
  plural: true,
  singular: true,
  scope: true,
  shortNames: true,
  categories: true,
  annotations: true,
  labels: true,
  version: true,
  spec: true,
  status: true,
  description: true,
  printerColumns: true,
  subresources: true,
  validations: true,
  selectableFields: true,
  served: true,
  deprecated: true,
  toStored: true,
  fromStored: true,
};

test("the README's table has every option of a custom resource", async () => {
  const readme = await readFile(path.join(import.meta.dirname, "../../README.md"), "utf8");
  const table = /\| Option +\|.*\n\| -.*\n((?:\|.*\n)+)/.exec(readme)?.[1] ?? "";
  const rows = table.trimEnd().split("\n");
  expect(rows.map((row) => /^\| `(\w+)`/.exec(row)?.[1])).toEqual(Object.keys(OPTIONS));
});
