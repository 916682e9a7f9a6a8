import { customResourceDefinitions } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";
import { z } from "zod";

import { setCondition } from "../conditions.js";
import { defineCustomResource } from "../custom-resource/custom-resource.js";
import { conditions } from "./index.js";

const backups = defineCustomResource({
  group: "example.com",
  version: "v1",
  kind: "Backup",
  scope: "Namespaced",
  spec: z.object({ volume: z.string() }),
  status: z.object({ phase: z.string().optional(), conditions: conditions() }),
});

/** Removes descriptions, which are texts of our own. */
function withoutDescriptions(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === "description" && typeof value === "string" ? undefined : value,
  );
}

test("conditions() is the schema that controller-gen writes for []metav1.Condition", () => {
  expect(withoutDescriptions(backups.openAPIV3Schema.properties?.["status"])).toEqual({
    type: "object",
    properties: {
      phase: { type: "string" },
      conditions: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        items: {
          type: "object",
          required: ["type", "status", "lastTransitionTime", "reason", "message"],
          properties: {
            lastTransitionTime: { type: "string", format: "date-time" },
            message: { type: "string", maxLength: 32768 },
            observedGeneration: { type: "integer", format: "int64", minimum: 0 },
            reason: {
              type: "string",
              minLength: 1,
              maxLength: 1024,
              pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
            },
            status: { type: "string", enum: ["True", "False", "Unknown"] },
            type: {
              type: "string",
              maxLength: 316,
              pattern:
                "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
            },
          },
        },
      },
    },
  });
});

test("the API server accepts what setCondition returns, and merges applied conditions by type", async () => {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true });
  const client = new Client({ transport: server.transport, clock });
  await client.resource(customResourceDefinitions).create(backups.crd);
  await clock.advance(2_000);
  const metadata = { name: "a", namespace: "default" };
  const created = await client.resource(backups).create(backups.make({ metadata, spec: { volume: "data" } }));
  for (const type of ["Ready", "Copied"]) {
    const status = { conditions: setCondition(created, { type, status: "True", reason: "Done" }, clock.now()) };
    const body = { apiVersion: "example.com/v1", kind: "Backup", metadata, status };
    await client
      .resource(backups)
      .patch("a", { type: "apply", body }, { namespace: "default", fieldManager: type, subresource: "status" });
  }
  const { status } = await client.resource(backups).get("a", { namespace: "default" });
  expect(status?.conditions?.map(({ type }) => type)).toEqual(["Ready", "Copied"]);
  await server.close();
});
