import type { ConfigMap, KubernetesObject, Service } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { describe, expect, test } from "vitest";

import type { ApiServerOptions } from "./api-server-options.js";
import { type ApiServer, createApiServer } from "./api-server.js";

interface World {
  readonly clock: SimulatedClock;
  readonly server: ApiServer;
  readonly call: (method: "GET" | "POST" | "PUT" | "DELETE", path: string, value?: object) => Promise<KubernetesObject>;
  readonly names: (path: string) => Promise<string[]>;
}

function begin(options: Partial<ApiServerOptions> = {}): World {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({
    clock,
    random: seededRandom(1),
    freeze: true,
    createDefaultObjects: true,
    ...options,
  });
  const call: World["call"] = async (method, path, value) => {
    const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
    const { body: answer } = await server.transport({ method, path, headers: {}, ...body });
    return (answer as { value: KubernetesObject }).value;
  };
  const names: World["names"] = async (path) => {
    const { items } = (await call("GET", path)) as unknown as { items: KubernetesObject[] };
    return items.map(({ metadata: { namespace, name } }) =>
      namespace === undefined ? name! : `${namespace}/${name!}`,
    );
  };
  return { clock, server, call, names };
}

const ACCOUNTS = "/api/v1/serviceaccounts";
const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

describe("a cluster with default objects", () => {
  test("has the Service kubernetes", async () => {
    const { call } = begin();
    const service = (await call("GET", "/api/v1/namespaces/default/services/kubernetes")) as Service;
    expect(service.spec).toMatchObject({
      clusterIP: "10.0.0.1",
      type: "ClusterIP",
      ports: [{ name: "https", port: 443 }],
    });
    expect(service.metadata.labels).toEqual({ component: "apiserver", provider: "kubernetes" });
  });

  test("recreates the Service kubernetes and the system namespaces after a deletion", async () => {
    const { clock, call, names } = begin();
    const service = "/api/v1/namespaces/default/services/kubernetes";
    await call("DELETE", service);
    await call("DELETE", "/api/v1/namespaces/kube-node-lease");
    expect(await names("/api/v1/services")).toEqual([]);
    await clock.advance(10_000);
    expect(((await call("GET", service)) as Service).spec?.clusterIP).toBe("10.0.0.1");
    expect(await names("/api/v1/namespaces")).not.toContain("kube-node-lease");
    await clock.advance(60_000);
    expect(await names("/api/v1/namespaces")).toContain("kube-node-lease");
  });

  test("has a ServiceAccount default in every namespace, and recreates it after a deletion", async () => {
    const { clock, call, names } = begin();
    const first = ["default/default", "kube-node-lease/default", "kube-public/default", "kube-system/default"];
    expect(await names(ACCOUNTS)).toEqual(first);
    await call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } });
    await clock.advance(0);
    expect(await names(ACCOUNTS)).toEqual([...first, "team/default"]);
    const before = await call("GET", "/api/v1/namespaces/team/serviceaccounts/default");
    await call("DELETE", "/api/v1/namespaces/team/serviceaccounts/default");
    await clock.advance(0);
    const after = await call("GET", "/api/v1/namespaces/team/serviceaccounts/default");
    expect(after.metadata.name).toBe("default");
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
  });

  test("that is managed publishes its authority in every namespace, and restores it after a change", async () => {
    const { clock, call, names } = begin({ managed: true, rootCA: "PEM" });
    const path = "/api/v1/namespaces/team/configmaps/kube-root-ca.crt";
    await call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } });
    await clock.advance(0);
    expect(await names("/api/v1/configmaps")).toEqual(
      ["default", "kube-node-lease", "kube-public", "kube-system", "team"].map((name) => `${name}/kube-root-ca.crt`),
    );
    const published = (await call("GET", path)) as ConfigMap;
    expect(published.data).toEqual({ "ca.crt": "PEM" });
    expect(published.metadata.annotations).toEqual({
      "kubernetes.io/description": expect.stringMatching(/^Contains a CA bundle /),
    });
    await call("PUT", path, { ...published, metadata: { name: "kube-root-ca.crt", labels: { a: "b" } }, data: {} });
    await clock.advance(0);
    const mended = (await call("GET", path)) as ConfigMap;
    expect([mended.data, mended.metadata.labels, mended.metadata.annotations]).toEqual([
      published.data,
      { a: "b" },
      published.metadata.annotations,
    ]);
    await call("DELETE", path);
    await clock.advance(0);
    expect(((await call("GET", path)) as ConfigMap).data).toEqual(published.data);
  });

  test("that continues under another authority publishes it", async () => {
    const { clock, server } = begin({ managed: true, rootCA: "old" });
    await clock.advance(1000);
    const { call } = begin({ managed: true, rootCA: "new", restore: server.snapshot() });
    const { data } = (await call("GET", "/api/v1/namespaces/default/configmaps/kube-root-ca.crt")) as ConfigMap;
    expect(data).toEqual({ "ca.crt": "new" });
  });

  test.each([{ managed: true }, { rootCA: "PEM" }])("with only %j publishes no authority", async (options) => {
    const { clock, names } = begin(options);
    await clock.advance(1000);
    expect(await names("/api/v1/configmaps")).toEqual([]);
  });

  test("lets a namespace go with its account", async () => {
    const { clock, call, names } = begin();
    await call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } });
    await clock.advance(1000);
    await call("DELETE", "/api/v1/namespaces/team");
    await clock.advance(60_000);
    expect(await names("/api/v1/namespaces")).not.toContain("team");
    expect(await names(ACCOUNTS)).not.toContain("team/default");
  });

  test.each(["AlwaysAllow", "RBAC"] as const)("has RBAC's roles with authorization %s", async (authorization) => {
    const { names, call } = begin({ authorization });
    expect(await names(ROLES)).toEqual(
      expect.arrayContaining([
        "admin",
        "cluster-admin",
        "edit",
        "system:aggregate-to-admin",
        "system:aggregate-to-edit",
        "system:aggregate-to-view",
        "system:auth-delegator",
        "system:discovery",
        "view",
      ]),
    );
    expect(await call("GET", `${ROLES}/view`)).toMatchObject({
      metadata: { labels: { "rbac.authorization.k8s.io/aggregate-to-edit": "true" } },
      aggregationRule: {
        clusterRoleSelectors: [{ matchLabels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } }],
      },
    });
  });

  test("is begun with again without a change", async () => {
    const { clock, server } = begin();
    await clock.advance(1000);
    const again = createApiServer({
      clock,
      random: seededRandom(2),
      createDefaultObjects: true,
      restore: server.snapshot(),
    });
    await clock.advance(1000);
    expect(again.snapshot()).toEqual(server.snapshot());
  });
});

test("others have nothing but namespaces", async () => {
  const { clock, names } = begin({ createDefaultObjects: false });
  await clock.advance(1000);
  expect(await names(ACCOUNTS)).toEqual([]);
  expect(await names(ROLES)).toEqual([]);
  expect(await names("/api/v1/services")).toEqual([]);
});
