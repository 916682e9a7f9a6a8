import { expect, test } from "vitest";
import { SimulatedClock, seededRandom } from "@kubewright/clock";

import { createApiServer } from "./index.js";

/** Least preferred first. */
const VERSIONS = ["zeta", "alpha", "v11alpha2", "v1beta1", "v1beta2", "v2", "v10"];
const BEST_FIRST = ["v10", "v2", "v1beta2", "v1beta1", "v11alpha2", "alpha", "zeta"];

test("of a definition's versions the newest that is stable is preferred", async () => {
  const clock = new SimulatedClock();
  const server = createApiServer({ clock, random: seededRandom(1) });
  const versions = VERSIONS.map((name) => ({
    name,
    served: true,
    storage: name === "zeta",
    schema: { openAPIV3Schema: { type: "object" } },
  }));
  const value = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: { group: "example.com", scope: "Cluster", names: { plural: "widgets", kind: "Widget" }, versions },
  };
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await server.transport({ method: "POST", path, headers: {}, body: { type: "decoded", value } });
  await clock.advance(0);
  const read = async (path: string, accept = "application/json"): Promise<unknown> =>
    ((await server.transport({ method: "GET", path, headers: { accept } })).body as { value: unknown }).value;
  const listed = BEST_FIRST.map((version) => ({ groupVersion: `example.com/${version}`, version }));
  const group = { name: "example.com", versions: listed, preferredVersion: listed[0] };
  expect(await read("/apis/example.com")).toMatchObject(group);
  expect(await read("/apis")).toMatchObject({ groups: expect.arrayContaining([group]) as unknown });
  const aggregated = (await read("/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")) as {
    items: { metadata: { name: string }; versions: { version: string }[] }[];
  };
  const found = aggregated.items.find(({ metadata }) => metadata.name === "example.com");
  expect(found?.versions.map(({ version }) => version)).toEqual(BEST_FIRST);
});
