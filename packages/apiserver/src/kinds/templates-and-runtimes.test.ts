import { expect, test } from "vitest";

import { create, row, update } from "../../test/strategy-calls.js";
import { podTemplateStrategy } from "./pod-template.js";
import { runtimeClassStrategy } from "./runtime-class.js";

test("a PodTemplate holds what could be a pod, and a changed one is a new generation", () => {
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

test("a RuntimeClass keeps its handler, which is a label", () => {
  const { object } = create(runtimeClassStrategy, { metadata: { name: "r" }, handler: "runsc" });
  expect(update(runtimeClassStrategy, object, (next) => (next.handler = "other")).message).toBe(
    'handler: Invalid value: "other": field is immutable',
  );
  expect(create(runtimeClassStrategy, { metadata: { name: "r" }, handler: "No_" }).message).toMatch(
    /^handler: Invalid value: "No_": a lowercase RFC 1123 label/,
  );
});
