import { expect, test } from "vitest";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";

import { cpuMs } from "./cpu-time.js";
import { createApiServer } from "../src/index.js";

const PODS = "/api/v1/namespaces/default/pods";
const MANY = 30_000;

async function podServer(spec: object): Promise<{
  send: (method: ApiRequest["method"], path: string, value: object) => Promise<number>;
  pod: object;
  failures: unknown[];
}> {
  const failures: unknown[] = [];
  const onError = (error: unknown): unknown => failures.push(error);
  const server = createApiServer({ clock: new SimulatedClock(0), random: seededRandom(1), onError });
  const send = async (method: ApiRequest["method"], path: string, value: object): Promise<number> => {
    const body = { type: "decoded", value } as const;
    return (await server.transport({ method, path, headers: {}, body })).status;
  };
  const containers = [{ name: "c", image: "busybox" }];
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers, ...spec } };
  expect(await send("POST", PODS, pod)).toBeLessThan(500);
  return { send, pod, failures };
}

test("very many tolerations are compared with those before in proportion to how many they are", async () => {
  const tolerations = Array.from({ length: MANY }, (_, index) => ({ key: `k${index}`, operator: "Exists" }));
  const { send, pod } = await podServer({ tolerations });
  const startedMs = cpuMs();
  const reversed = { ...pod, spec: { ...(pod as { spec: object }).spec, tolerations: tolerations.toReversed() } };
  expect(await send("PUT", `${PODS}/p`, reversed)).toBe(200);
  // Comparing each toleration with each other takes minutes.
  expect(cpuMs() - startedMs).toBeLessThan(10_000);
});

test("a node selector without a key is refused", async () => {
  const nodeSelectorTerms = [{ matchExpressions: [{ operator: "Exists" }] }];
  const { send, pod, failures } = await podServer({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  });
  expect(await send("POST", PODS, pod)).toBe(422);
  expect(failures).toEqual([]);
});

test("ports that conflict with all ports before them cost no more than the warnings that are sent", async () => {
  const equal = Array.from({ length: 20 }, () => ({ containerPort: 80 }));
  const containers = Array.from({ length: 1_000 }, (_, index) => ({ name: `c${index}`, image: "i", ports: equal }));
  const server = createApiServer({ clock: new SimulatedClock(0), random: seededRandom(1) });
  const body = { type: "decoded", value: { metadata: { name: "p" }, spec: { containers } } } as const;
  const startedMs = cpuMs();
  const { status, headers } = await server.transport({ method: "POST", path: PODS, headers: {}, body });
  // Each of the 1.3 million pairs as a warning takes 5 s.
  expect(cpuMs() - startedMs).toBeLessThan(2_000);
  expect(status).toBe(201);
  expect(headers["warning"]).toHaveLength(47);
});
