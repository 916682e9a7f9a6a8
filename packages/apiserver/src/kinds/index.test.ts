import { qualifiedResource } from "@kubewright/api";
import { expect, test } from "vitest";

import { builtInResources } from "./index.js";

test("the server knows these kinds", () => {
  expect(builtInResources.map(({ definition }) => qualifiedResource(definition))).toEqual([
    "configmaps",
    "events",
    "namespaces",
    "nodes",
    "pods",
    "secrets",
    "serviceaccounts",
    "services",
    "events.events.k8s.io",
    "cronjobs.batch",
    "jobs.batch",
    "clusterrolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
    "roles.rbac.authorization.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
    "leases.coordination.k8s.io",
  ]);
});

test("a table has a cell for each of its columns", () => {
  for (const { definition, strategy } of builtInResources) {
    const { printer } = strategy;
    if (printer === undefined) continue;
    const object = { metadata: { name: "x" } };
    expect([definition.kind, printer.cells(object, 0).length]).toEqual([definition.kind, printer.columns.length]);
  }
});
