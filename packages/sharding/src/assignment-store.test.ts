import { type ConfigMap, type DeepReadonly, configMaps } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { AssignmentStore, assignmentName } from "./assignment-store.js";
import { withEdits } from "./assignment.js";
import { unsplitLayout } from "./layout.js";

const NAMESPACE = "kube-system";

test("an assignment that the watch delivers during a read is kept when the response is older", async () => {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true });
  const admin = new Client({ transport: server.transport, clock }).resource(configMaps);
  const meanwhile = { happens: (): Promise<void> => Promise.resolve() };
  const client = new Client({
    transport: async (request) => {
      const response = await server.transport(request);
      if (request.method === "GET") await meanwhile.happens();
      return response;
    },
    clock,
  });
  const options = { clock, namespace: NAMESPACE, group: "kubewright", layout: unsplitLayout, requestTimeoutMs: 4_000 };
  const store = new AssignmentStore({ client, ...options });
  const { signal } = new AbortController();
  await store.create(signal);
  const before = store.latest!;
  const newer = withEdits(before.assignment, "other", { acquire: [7], release: [], fence: new Set() });
  let heard: DeepReadonly<ConfigMap> | undefined;
  meanwhile.happens = async () => {
    await new AssignmentStore({ client: new Client({ transport: server.transport, clock }), ...options }).write(
      before,
      newer,
      signal,
    );
    heard = await admin.get(assignmentName("kubewright"), { namespace: NAMESPACE });
    store.observe(heard);
  };
  expect((await store.read(signal))?.assignment).toEqual(newer);
  expect(store.latest?.resourceVersion).toBe(heard?.metadata.resourceVersion);
  await server.close();
});
