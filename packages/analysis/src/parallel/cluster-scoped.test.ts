import * as api from "@kubewright/api";
import { expect, test } from "vitest";

import { clusterScopeTest } from "./cluster-scoped.js";

const definitions = Object.values(api).filter(
  (exported): exported is api.ResourceDefinition<api.KubernetesObject> =>
    typeof exported === "object" && "namespaced" in exported,
);

test("cluster-scoped kinds are those of the built-in definitions", () => {
  expect(definitions.length).toBeGreaterThan(30);
  const isClusterScoped = clusterScopeTest([]);
  const found = definitions.filter((each) => isClusterScoped({ apiVersion: api.apiVersionOf(each), kind: each.kind }));
  expect(found).toEqual(definitions.filter(({ namespaced }) => !namespaced));
});

test("cluster-scoped kinds include those of definitions among the objects", () => {
  const definition = (scope: string, kind: string): api.UnstructuredObject => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.toLowerCase()}s.example.com` },
    spec: { group: "example.com", scope, names: { kind } },
  });
  const isClusterScoped = clusterScopeTest([definition("Cluster", "Fleet"), definition("Namespaced", "Ship")]);
  expect(isClusterScoped({ apiVersion: "example.com/v1", kind: "Fleet" })).toBe(true);
  expect(isClusterScoped({ apiVersion: "example.com/v1", kind: "Ship" })).toBe(false);
  expect(isClusterScoped({ apiVersion: "example.org/v1", kind: "Fleet" })).toBe(false);
});
