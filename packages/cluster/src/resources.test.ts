import { expect, test } from "vitest";
import { type KubernetesObject, type LabelSelector, apiVersionOf, pods } from "@kubewright/api";
import { builtInResource, builtInResources, specAndStatus } from "@kubewright/apiserver";
import { SimulatedClock, seededRandom } from "@kubewright/clock";

import { createCluster } from "./cluster.js";

interface Fleet extends KubernetesObject {
  spec?: { ships?: number; selector?: LabelSelector };
  status?: { afloat?: number };
}

const definition = { group: "ships.dev", version: "v1", resource: "fleets", kind: "Fleet", namespaced: true };

const fleets = builtInResource<Fleet>({
  definition,
  types: {
    fields: {
      Fleet: "| apiVersion kind metadata:ObjectMeta spec:FleetSpec status:FleetStatus",
      FleetSpec: "| selector:LabelSelector ships:int32",
      FleetStatus: "| afloat:int32",
    },
  },
  strategy: {
    ...specAndStatus<Fleet>(),
    validateCreate({ spec }, errors) {
      if ((spec?.ships ?? 0) > 100) errors.invalid("spec.ships", spec!.ships, "are more than an admiral can count");
    },
  },
  subresources: {
    scale: {
      scale: {
        specReplicasPath: ".spec.ships",
        statusReplicasPath: ".status.afloat",
        labelSelectorPath: ".spec.selector",
      },
    },
  },
});

test("a cluster serves additional kinds, with status, scale, owners and discovery", async () => {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const cluster = createCluster({ clock, random: seededRandom(1), resources: [fleets], freeze: true });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  await clock.settle();
  const client = cluster.client("admiral").resource<Fleet>(definition);
  const selector = { matchLabels: { fleet: "west" } };
  const fleet = await client.create({ metadata: { name: "west", namespace: "default" }, spec: { ships: 3, selector } });
  expect(fleet.metadata.generation).toBe(1);
  await expect(
    client.create({ metadata: { name: "vast", namespace: "default" }, spec: { ships: 101 } }),
  ).rejects.toThrow("spec.ships: Invalid value: 101: are more than an admiral can count");

  await client.updateStatus({ ...fleet, spec: { ships: 9 }, status: { afloat: 2 } });
  const path = "/apis/ships.dev/v1/namespaces/default/fleets/west/scale";
  const scale = await cluster.apiServer.transport({ method: "GET", path, headers: {} });
  expect(scale.body).toMatchObject({
    value: { kind: "Scale", spec: { replicas: 3 }, status: { replicas: 2, selector: "fleet=west" } },
  });
  const headers = { "content-type": "application/merge-patch+json" };
  const body = { type: "decoded", value: { spec: { replicas: 5 } } } as const;
  await cluster.apiServer.transport({ method: "PATCH", path, headers, body });
  const scaled = await client.get("west", { namespace: "default" });
  expect([scaled.spec?.ships, scaled.status?.afloat, scaled.metadata.generation]).toEqual([5, 2, 2]);

  const owner = { apiVersion: apiVersionOf(definition), kind: "Fleet", name: "west", uid: fleet.metadata.uid! };
  await cluster
    .client("admiral")
    .resource(pods)
    .create({
      metadata: { name: "flagship", namespace: "default", ownerReferences: [owner] },
      spec: { schedulerName: "nobody", containers: [{ name: "c", image: "i" }] },
    });
  await clock.advance(120_000);
  await client.delete("west", { namespace: "default", propagationPolicy: "Background" });
  await clock.advance(120_000);
  expect((await cluster.client("admiral").resource(pods).list()).items).toEqual([]);
  stop.abort();
  await running;
});

test("an additional kind replaces the server's own", async () => {
  const secrets = builtInResources().find(({ definition: { resource } }) => resource === "secrets")!;
  const refusing = builtInResource({
    ...secrets,
    strategy: {
      ...secrets.strategy,
      validateCreate: (_object, errors) => errors.forbidden("data", "nothing is secret here"),
    },
  });
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const cluster = createCluster({ clock, random: seededRandom(1), resources: [refusing] });
  const answer = await cluster.apiServer.transport({
    method: "POST",
    path: "/api/v1/namespaces/default/secrets",
    headers: {},
    body: { type: "decoded", value: { metadata: { name: "s" } } },
  });
  expect(answer.status).toBe(422);
  const discovery = await cluster.apiServer.transport({ method: "GET", path: "/api/v1", headers: {} });
  const { resources } = (discovery.body as { value: { resources: { name: string }[] } }).value;
  expect(resources.filter(({ name }) => name === "secrets")).toHaveLength(1);
});
