import { newestBehaviours } from "@kubewright/api";
import { expect, test } from "vitest";

import type { BuiltInResource } from "../built-in-resource.js";
import { builtInResources } from "./index.js";

test("kinds are sorted by group and name, as discovery lists them", () => {
  const kinds = builtInResources(newestBehaviours);
  const groups = kinds.map(({ definition }) => definition.group);
  const together = groups.filter((group, index) => group !== groups[index - 1]);
  expect(together).toEqual([...new Set(together)]);
  for (const group of together) {
    const names = kinds.filter(({ definition }) => definition.group === group).map(nameOf);
    expect(names).toEqual([...names].sort());
  }
});

function nameOf({ definition }: BuiltInResource): string {
  return definition.resource;
}

test("a table has a cell for each of its columns", () => {
  for (const { definition, strategy } of builtInResources(newestBehaviours)) {
    const { printer } = strategy;
    if (printer === undefined) continue;
    const object = { metadata: { name: "x" } };
    expect([definition.kind, printer.cells(object, 0).length]).toEqual([definition.kind, printer.columns.length]);
  }
});
