import { expect, test } from "vitest";
import { SimulatedClock, seededRandom } from "@kubewright/clock";

import { createApiServer } from "../src/index.js";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const MIB = 1024 * 1024;
const LONG = "k".repeat(MIB);

const definition = {
  metadata: { name: "gadgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "gadgets", kind: "Gadget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                additionalProperties: {
                  type: "object",
                  properties: { list: { type: "array", items: { type: "string", minLength: 1 } } },
                },
              },
            },
          },
        },
      },
    ],
  },
};

function gadget(content: object): object {
  return { apiVersion: "example.com/v1", kind: "Gadget", metadata: { name: "g" }, spec: { [LONG]: content } };
}

const manyFields = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`f${index}`, 1]));

test.each<[string, string, string, string, object]>([
  [
    "labels that are all wrong",
    "POST",
    CONFIG_MAPS,
    "application/json",
    {
      metadata: {
        name: "a",
        labels: Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`l${index}`, "!"])),
      },
    },
  ],
  [
    "values that are all wrong, far from the root",
    "POST",
    "/apis/example.com/v1/namespaces/default/gadgets",
    "application/json",
    gadget({ list: Array.from({ length: 20_000 }, () => "") }),
  ],
  [
    "fields that the schema does not have",
    "POST",
    "/apis/example.com/v1/namespaces/default/gadgets?fieldValidation=Strict",
    "application/json",
    gadget(manyFields),
  ],
  [
    "applied fields that the schema does not have",
    "PATCH",
    "/apis/example.com/v1/namespaces/default/gadgets/g?fieldManager=me",
    "application/apply-patch+yaml",
    gadget(manyFields),
  ],
])("errors about a body have a limited length: %s", async (_what, method, path, contentType, value) => {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const failures: unknown[] = [];
  const onError = (error: unknown): unknown => failures.push(error);
  const server = createApiServer({ clock, random: seededRandom(1), onError });
  const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await server.transport({ method: "POST", path: crds, headers: {}, body: { type: "decoded", value: definition } });
  await clock.advance(1);
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const { status, body } = await server.transport({
    method: method as "POST",
    path,
    headers: { "content-type": contentType },
    body: { type: "bytes", bytes },
  });
  expect(failures).toEqual([]);
  expect(status).toBeGreaterThanOrEqual(400);
  const answer = JSON.stringify((body as { value: unknown }).value);
  expect(answer).toContain(contentType === "application/json" ? "" : "field not declared in schema");
  expect(answer.length).toBeLessThan(12 * MIB);
});
