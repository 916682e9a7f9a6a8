import { configMaps } from "@kubewright/api";
import { SimulatedClock } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";
import { expect, test } from "vitest";

import { Client } from "./client.js";

test("deleteCollection sends selectors in the query and the options in the body", async () => {
  const sent: ApiRequest[] = [];
  const list = { kind: "ConfigMapList", metadata: { resourceVersion: "7" }, items: [{ metadata: { name: "a" } }] };
  const client = new Client({
    clock: new SimulatedClock(),
    transport: async (request) => {
      sent.push(request);
      return { status: 200, headers: {}, body: { type: "decoded", value: list } };
    },
  });
  const deleted = await client
    .resource(configMaps)
    .deleteCollection({ namespace: "default", labelSelector: "app=x", propagationPolicy: "Background", dryRun: "All" });
  expect(deleted).toEqual(list);
  expect(sent).toMatchObject([
    {
      method: "DELETE",
      path: "/api/v1/namespaces/default/configmaps?labelSelector=app%3Dx",
      body: {
        type: "decoded",
        value: { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Background", dryRun: ["All"] },
      },
    },
  ]);
});
