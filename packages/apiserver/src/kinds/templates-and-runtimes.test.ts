import type { Pod } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { create, row, update } from "../../test/strategy-calls.js";
import { createApiServer } from "../api-server.js";
import { podTemplateStrategy } from "./pod-template.js";
import { runtimeClassStrategy } from "./runtime-class.js";

test("a PodTemplate holds a valid pod template, and a change bumps the generation", () => {
  const template = { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "c", image: "busybox" }] } };
  const { object } = create(podTemplateStrategy, { metadata: { name: "t" }, template });
  expect(object).toMatchObject({ metadata: { generation: 1 }, template: { spec: { restartPolicy: "Always" } } });
  expect(row(podTemplateStrategy, object)).toEqual({
    Name: "t",
    Containers: "c",
    Images: "busybox",
    "Pod Labels": "app=x",
  });
  const next = update(podTemplateStrategy, object, (changed) => (changed.template!.spec!.restartPolicy = "Never"));
  expect([next.message, podTemplateStrategy.bumpsGeneration?.(next.object, object)]).toEqual(["", true]);
  expect(create(podTemplateStrategy, { metadata: { name: "t" }, template: {} }).message).toContain(
    "template.spec.containers: Required value",
  );
});

test("a RuntimeClass's handler is an immutable DNS label", () => {
  const { object } = create(runtimeClassStrategy, { metadata: { name: "r" }, handler: "runsc" });
  expect(update(runtimeClassStrategy, object, (next) => (next.handler = "other")).message).toBe(
    'handler: Invalid value: "other": field is immutable',
  );
  expect(create(runtimeClassStrategy, { metadata: { name: "r" }, handler: "No_" }).message).toMatch(
    /^handler: Invalid value: "No_": a lowercase RFC 1123 label/,
  );
});

test("a pod's RuntimeClass must exist, and sets overhead and scheduling", async () => {
  const { transport } = createApiServer({
    clock: new SimulatedClock("2026-01-01T00:00:00Z"),
    random: seededRandom(1),
    freeze: true,
  });
  const post = async (path: string, value: object): Promise<[number, string | undefined, Pod["spec"]]> => {
    const { status, body } = await transport({ method: "POST", path, headers: {}, body: { type: "decoded", value } });
    const answer = (body as { value: Pod & { message?: string } }).value;
    return [status, answer.message, answer.spec];
  };
  const runPod = (name: string, spec: object): ReturnType<typeof post> =>
    post("/api/v1/namespaces/default/pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name },
      spec: { containers: [{ name: "c", image: "busybox" }], ...spec },
    });
  const scheduling = { nodeSelector: { sandbox: "yes" }, tolerations: [{ key: "sandbox", operator: "Exists" }] };
  await post("/apis/node.k8s.io/v1/runtimeclasses", {
    apiVersion: "node.k8s.io/v1",
    kind: "RuntimeClass",
    metadata: { name: "gvisor" },
    handler: "runsc",
    overhead: { podFixed: { cpu: "250m" } },
    scheduling,
  });
  const [status, , spec] = await runPod("a", { runtimeClassName: "gvisor", nodeSelector: { disk: "ssd" } });
  expect(status).toBe(201);
  expect(spec).toMatchObject({
    overhead: { cpu: "250m" },
    nodeSelector: { disk: "ssd", sandbox: "yes" },
    tolerations: scheduling.tolerations,
  });
  const refused = async (more: object): Promise<[number, string | undefined]> => {
    const [code, message] = await runPod("b", more);
    return [code, message?.replace('pods "b" is forbidden: ', "")];
  };
  expect(await refused({ runtimeClassName: "none" })).toEqual([403, 'pod rejected: RuntimeClass "none" not found']);
  expect(await refused({ overhead: { cpu: "1" } })).toEqual([
    403,
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
  ]);
  expect(await refused({ runtimeClassName: "gvisor", overhead: { cpu: "1" } })).toEqual([
    403,
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
  ]);
  expect(await refused({ runtimeClassName: "gvisor", nodeSelector: { sandbox: "no" } })).toEqual([
    403,
    "conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes; pod.spec.nodeSelector[sandbox] = no",
  ]);
});
