import {
  type KubernetesObject,
  clusterRoles,
  configMaps,
  customResourceDefinitions,
  defineResource,
  jobs,
  leases,
  nodes,
  pods,
  secrets,
} from "@kubewright/api";
import { builtInResources, createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { backups, operator, webhooks } from "../../test/fixtures/backup-operator.js";
import { findExports } from "./find-exports.js";
import { type ManifestOptions, operatorManifests } from "./operator-manifests.js";
import { policyRules } from "./permissions.js";
import { recordPermissions } from "./record-permissions.js";

const everything = [...builtInResources().map(({ definition }) => definition), customResourceDefinitions];

/** An API server with RBAC, and these objects applied. */
async function installed(options: Partial<ManifestOptions> = {}) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), authorization: "RBAC" });
  const admin = new Client({ transport: server.transport, clock });
  const { definitions } = findExports([{ backups }]);
  for (const object of operatorManifests({ operator, definitions, ...options })) {
    const definition = everything.find(({ kind, group }) => kind === object.kind && groupOf(object) === group);
    if (definition === undefined) throw new Error(`what is a ${object.kind}?`);
    const { name, namespace } = object.metadata;
    await admin
      .resource(defineResource<KubernetesObject>(definition))
      .patch(name!, { type: "apply", body: object }, { namespace, fieldManager: "test" });
  }
  await clock.advance(5_000);
  const account = {
    username: "system:serviceaccount:backup-operator:backup-operator",
    groups: ["system:serviceaccounts", "system:authenticated"],
  };
  const transport = server.transportAs(account);
  return { admin, transport, client: new Client({ transport, clock }), end: () => server.close() };
}

function groupOf({ apiVersion = "" }: KubernetesObject): string {
  return apiVersion.includes("/") ? apiVersion.split("/")[0]! : "";
}

test("the operator may do what its controllers say, and nothing else", async () => {
  const { client, end } = await installed();
  const place = { namespace: "default" };
  const backup = client.resource(backups);
  await backup.list();
  await client.resource(jobs).list();
  await client.resource(configMaps).list();
  const metadata = { name: "a", ...place };
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x" }] } };
  await client.resource(jobs).create({ metadata, spec: { template } });
  await client.resource(jobs).delete("a", place);
  await client.resource(leases).create({ metadata: { name: "backup-operator", namespace: "backup-operator" } });
  const forbidden = [
    backup.create(backups.make({ metadata, spec: { volume: "data" } })),
    backup.delete("a", place),
    client.resource(configMaps).create({ metadata }),
    client.resource(secrets).list(),
    client.resource(nodes).list(),
    client.resource(pods).list(),
    client.resource(leases).get("other", { namespace: "backup-operator" }),
    client.resource(clusterRoles).list(),
  ];
  for (const each of forbidden) await expect(each).rejects.toThrow("is forbidden");
  await end();
});

test("an operator of some namespaces may do nothing in others", async () => {
  const namespaces = ["team-a", "default"];
  const objects = operatorManifests({ operator: { ...operator, options: { namespaces, leaderElection: false } } });
  const roles = objects.filter(({ kind }) => kind?.endsWith("Role"));
  expect(roles.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)).toEqual([
    "Role team-a/backup-operator",
    "Role default/backup-operator",
  ]);
  expect(objects.find(({ kind }) => kind === "Deployment")).toMatchObject({
    spec: {
      replicas: 1,
      template: {
        spec: {
          containers: [{ env: [{ name: "POD_NAMESPACE" }, { name: "WATCH_NAMESPACE", value: "team-a,default" }] }],
        },
      },
    },
  });
});

test("webhooks bring a service, their configurations, and the right to put their authority there", async () => {
  const { admin, client, end } = await installed({ webhooks, definitions: findExports([{ webhooks }]).definitions });
  const crd = await admin.resource(customResourceDefinitions).get("backups.example.com");
  expect(crd.spec.versions.map(({ name }) => name)).toEqual(["v1", "v1alpha1"]);
  expect(crd.spec.conversion?.webhook?.clientConfig?.service).toMatchObject({
    name: "backup-operator",
    namespace: "backup-operator",
  });
  const body = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    spec: { conversion: crd.spec.conversion },
  };
  const options = { fieldManager: "backup-operator-webhooks", force: true };
  await client.resource(customResourceDefinitions).patch("backups.example.com", { type: "apply", body }, options);
  const secret = { metadata: { name: "backup-operator-webhooks", namespace: "backup-operator" } };
  await client.resource(secrets).create(secret);
  await expect(client.resource(secrets).get("other", { namespace: "backup-operator" })).rejects.toThrow("is forbidden");
  await end();
});

test("rules name each resource once, and those that may be used alike together", () => {
  const resource = { group: "", resource: "pods", namespaced: true };
  expect(
    policyRules([
      { resource, verbs: ["delete", "get"] },
      { resource, verbs: ["get", "list"] },
      { resource: { ...resource, resource: "events" }, verbs: ["list", "delete", "get"] },
      { resource, subresource: "status", verbs: ["patch"] },
      { resource, resourceNames: ["b", "a"], verbs: ["update"] },
    ]),
  ).toEqual([
    { apiGroups: [""], resources: ["events", "pods"], verbs: ["get", "list", "delete"] },
    { apiGroups: [""], resources: ["pods"], resourceNames: ["a", "b"], verbs: ["update"] },
    { apiGroups: [""], resources: ["pods/status"], verbs: ["patch"] },
  ]);
});

test("what a test run asks for is recorded as what it takes to be allowed to", async () => {
  const clock = new SimulatedClock();
  const recording = recordPermissions((request) =>
    Promise.resolve({
      status: 200,
      headers: {},
      body: { type: "decoded", value: { kind: "Status", path: request.path } },
    }),
  );
  const client = new Client({ transport: recording.transport, clock });
  const place = { namespace: "default" };
  await client.resource(jobs).list(place);
  await client.resource(jobs).get("a", place);
  await client.resource(jobs).get("b", place);
  await client.resource(jobs).patch("a", { type: "merge", body: {} }, { ...place, subresource: "status" });
  await client.resource(nodes).get("a");
  await client.getRaw("/version");
  expect(policyRules(recording.permissions())).toEqual([
    { apiGroups: [""], resources: ["nodes"], verbs: ["get"] },
    { apiGroups: ["batch"], resources: ["jobs"], verbs: ["get", "list"] },
    { apiGroups: ["batch"], resources: ["jobs/status"], verbs: ["patch"] },
  ]);
});

test("an operator with sharding has the permissions for it, and none for leader election", () => {
  const shared = {
    ...operator,
    name: operator.name,
    controllers: operator.controllers,
    options: { sharding: "namespaces" },
  } as const;
  const roles = operatorManifests({ operator: shared }).filter(({ kind }) => kind === "Role" || kind === "ClusterRole");
  const named = new Map(roles.map((role) => [role.metadata.name, (role as { rules?: unknown }).rules]));
  expect(named.has("backup-operator-leader-election")).toBe(false);
  expect(named.get("backup-operator-sharding")).toEqual([
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "create", "update"] },
    {
      apiGroups: ["coordination.k8s.io"],
      resources: ["leases"],
      verbs: ["get", "list", "watch", "create", "update", "delete"],
    },
  ]);
  expect(JSON.stringify(named.get("backup-operator"))).toContain('"namespaces"');
});
