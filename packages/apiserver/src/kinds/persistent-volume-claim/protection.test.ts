import type { KubernetesObject } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { createApiServer } from "../../api-server.js";

type Call = (
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  value?: object,
) => Promise<KubernetesObject & { code?: number }>;

function serve(managed: boolean): { call: Call; clock: SimulatedClock } {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true, managed });
  const call: Call = async (method, path, value) => {
    const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
    const { body: answer } = await server.transport({ method, path: `/api/v1/${path}`, headers: {}, ...body });
    await clock.advance(0);
    return (answer as { value: KubernetesObject & { code?: number } }).value;
  };
  return { call, clock };
}

const CLAIMS = "namespaces/default/persistentvolumeclaims";
const PODS = "namespaces/default/pods";

function claim(name: string, finalizers: string[] = []): object {
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  return { metadata: { name, finalizers }, spec };
}

function pod(name: string, claimName: string, spec: object = { nodeName: "n" }): object {
  const volumes = [{ name: "v", persistentVolumeClaim: { claimName } }];
  return { metadata: { name }, spec: { volumes, containers: [{ name: "c", image: "i" }], ...spec } };
}

test("a deleted claim is removed with the last scheduled pod that uses it", async () => {
  const { call } = serve(true);
  for (const name of ["a", "b"]) await call("POST", CLAIMS, claim(name));
  await call("POST", PODS, pod("one", "a"));
  await call("POST", PODS, pod("two", "a"));
  await call("POST", PODS, pod("waiting", "b", {}));
  await call("DELETE", `${CLAIMS}/a`);
  await call("DELETE", `${CLAIMS}/b`);
  expect((await call("GET", `${CLAIMS}/b`)).code).toBe(404);
  const remove = { gracePeriodSeconds: 0 };
  await call("DELETE", `${PODS}/one`, remove);
  expect((await call("GET", `${CLAIMS}/a`)).metadata.deletionTimestamp).toBeDefined();
  await call("DELETE", `${PODS}/two`, remove);
  expect((await call("GET", `${CLAIMS}/a`)).code).toBe(404);
});

test("the server removes only its own finalizer from a claim", async () => {
  const { call } = serve(true);
  await call("POST", CLAIMS, claim("a", ["example.com/mine"]));
  await call("DELETE", `${CLAIMS}/a`);
  expect((await call("GET", `${CLAIMS}/a`)).metadata.finalizers).toEqual(["example.com/mine"]);
});

test("a deleted volume is removed when no claim is bound to it", async () => {
  const { call } = serve(true);
  const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } };
  const made = await call("POST", "persistentvolumes", { metadata: { name: "v" }, spec });
  const bound = await call("PUT", "persistentvolumes/v/status", { ...made, status: { phase: "Bound" } });
  await call("DELETE", "persistentvolumes/v");
  const held = await call("GET", "persistentvolumes/v");
  expect(held.metadata.deletionTimestamp).toBeDefined();
  await call("PUT", "persistentvolumes/v/status", {
    ...bound,
    metadata: held.metadata,
    status: { phase: "Released" },
  });
  expect((await call("GET", "persistentvolumes/v")).code).toBe(404);
});

test("a namespace with claims is deleted", async () => {
  const { call, clock } = serve(true);
  await call("POST", "namespaces", { metadata: { name: "team" } });
  await call("POST", "namespaces/team/persistentvolumeclaims", claim("a"));
  await call("DELETE", "namespaces/team");
  await clock.advance(5000);
  expect((await call("GET", "namespaces/team")).code).toBe(404);
});

test("a server that is not managed leaves protection finalizers to a controller", async () => {
  const { call } = serve(false);
  await call("POST", CLAIMS, claim("a"));
  await call("DELETE", `${CLAIMS}/a`);
  expect((await call("GET", `${CLAIMS}/a`)).metadata.finalizers).toEqual(["kubernetes.io/pvc-protection"]);
});
