import type { ClusterRole } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import type { ApiServerOptions } from "../api-server-options.js";
import { type ApiServer, createApiServer } from "../api-server.js";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const VIEWED = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };

interface Bench {
  readonly server: ApiServer;
  readonly clock: SimulatedClock;
  readonly send: (method: "DELETE" | "GET" | "POST" | "PUT", path: string, value?: object) => Promise<ClusterRole>;
  /** Returns the status code of a request by the user `viewer`. */
  readonly view: (path: string) => Promise<number>;
}

function serve(options: Partial<ApiServerOptions> = {}): Bench {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({
    clock,
    random: seededRandom(1),
    freeze: true,
    managed: true,
    authorization: "RBAC",
    ...options,
  });
  const send: Bench["send"] = async (method, path, value) => {
    const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
    const answer = await server.transport({ method, path, headers: {}, ...body });
    await clock.advance(0);
    if (answer.body.type !== "decoded") throw new Error("no object");
    return answer.body.value as ClusterRole;
  };
  const viewer = server.transportAs({ username: "viewer" });
  return { server, clock, send, view: async (path) => (await viewer({ method: "GET", path, headers: {} })).status };
}

const role = (name: string, rules: ClusterRole["rules"], labels: Record<string, string> = {}): object => ({
  metadata: { name, labels },
  rules,
});
const rule = (...resources: string[]): { apiGroups: string[]; resources: string[]; verbs: string[] } => ({
  apiGroups: ["example.com"],
  resources,
  verbs: ["get"],
});

test("who may view, edit or administer may do with a custom resource what its own roles say", async () => {
  const { send, view } = serve();
  const names = { plural: "fleets", kind: "Fleet" };
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const versions = [{ name: "v1", served: true, storage: true, schema }];
  await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "fleets.example.com" },
    spec: { group: "example.com", scope: "Namespaced", names, versions },
  });
  await send("POST", "/apis/example.com/v1/namespaces/default/fleets", {
    apiVersion: "example.com/v1",
    kind: "Fleet",
    metadata: { name: "f" },
  });
  await send("POST", `${RBAC}/clusterrolebindings`, {
    metadata: { name: "viewer" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "viewer" }],
  });
  const fleet = "/apis/example.com/v1/namespaces/default/fleets/f";
  expect(await view(fleet)).toBe(403);
  await send("POST", `${RBAC}/clusterroles`, role("fleets-viewer", [rule("fleets")], VIEWED));
  expect(await view(fleet)).toBe(200);
  for (const name of ["edit", "admin"])
    expect((await send("GET", `${RBAC}/clusterroles/${name}`)).rules).toContainEqual(rule("fleets"));
  await send("DELETE", `${RBAC}/clusterroles/fleets-viewer`);
  expect(await view(fleet)).toBe(403);
  expect((await send("GET", `${RBAC}/clusterroles/admin`)).rules).not.toContainEqual(rule("fleets"));
});

test("a role is the rules of those it selects, each once, by selector and name, and never its own", async () => {
  const { send } = serve();
  const selector = (key: string): object => ({ matchLabels: { [key]: "yes" } });
  await send("POST", `${RBAC}/clusterroles`, role("b", [rule("x"), rule("y")], { one: "yes" }));
  await send("POST", `${RBAC}/clusterroles`, role("a", [rule("z")], { one: "yes", two: "yes" }));
  await send("POST", `${RBAC}/clusterroles`, role("c", [rule("w"), rule("x")], { two: "yes" }));
  await send("POST", `${RBAC}/clusterroles`, {
    ...role("all", [rule("mine")], { one: "yes" }),
    aggregationRule: { clusterRoleSelectors: [selector("two"), selector("one")] },
  });
  const { rules, metadata } = await send("GET", `${RBAC}/clusterroles/all`);
  expect(rules).toEqual([rule("z"), rule("w"), rule("x"), rule("y")]);
  expect(metadata.managedFields?.map(({ manager }) => manager)).toContain("clusterrole-aggregation-controller");
  await send("PUT", `${RBAC}/clusterroles/c`, role("c", [], { two: "yes" }));
  await send("DELETE", `${RBAC}/clusterroles/b`);
  expect((await send("GET", `${RBAC}/clusterroles/all`)).rules).toEqual([rule("z")]);
  await send("DELETE", `${RBAC}/clusterroles/a`);
  expect((await send("GET", `${RBAC}/clusterroles/all`)).rules ?? []).toEqual([]);
});

test.each([2, 3, 5])("%i roles that are made of each other in a circle come to rest", async (count) => {
  const { send, server, clock } = serve();
  for (let index = 0; index < count; index++) {
    const matchLabels = { part: String((index + 1) % count) };
    await send("POST", `${RBAC}/clusterroles`, {
      ...role(`r${index}`, [rule(`own${index}`)], { part: String(index) }),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels }] },
    });
  }
  await clock.advance(1000);
  const { resourceVersion } = server;
  await clock.advance(60_000);
  expect(server.resourceVersion).toBe(resourceVersion);
});

test("the roles that a cluster begins with need nothing gathered", async () => {
  const { server, clock } = serve({ createDefaultObjects: true });
  const { resourceVersion } = server;
  await clock.advance(60_000);
  expect(server.resourceVersion).toBe(resourceVersion);
});

test("a server that is not managed gathers nothing", async () => {
  const { send } = serve({ managed: false });
  const before = (await send("GET", `${RBAC}/clusterroles/view`)).rules;
  await send("POST", `${RBAC}/clusterroles`, role("fleets-viewer", [rule("fleets")], VIEWED));
  expect((await send("GET", `${RBAC}/clusterroles/view`)).rules).toEqual(before);
});
