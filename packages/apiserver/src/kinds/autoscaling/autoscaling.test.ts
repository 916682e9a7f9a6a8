import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerV1 } from "@kubewright/api";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { create, row, update } from "../../../test/strategy-calls.js";
import { fromV1, toV1 } from "./conversion.js";
import { horizontalPodAutoscalerStrategy, horizontalPodAutoscalerV1Strategy } from "./horizontal-pod-autoscaler.js";

const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
const autoscaler = (spec: object): object => ({
  metadata: { name: "h" },
  spec: { scaleTargetRef, maxReplicas: 3, ...spec },
});

const name = fc.constantFrom("m", "requests", "a.b", "bad/name", "");
const amount = fc.option(fc.constantFrom("1", "100m", "1Gi", "0", "-1"), { nil: undefined });
const target = fc.record({
  type: fc.constantFrom("Utilization", "Value", "AverageValue", "Odd"),
  value: amount,
  averageValue: amount,
  averageUtilization: fc.option(fc.constantFrom(50, 0), { nil: undefined }),
});
type Target = Exclude<HorizontalPodAutoscaler["spec"]["metrics"], undefined>[number]["resource"] & object;

const isAmount = (given: string | undefined): boolean => given === undefined || !/^(0|-.*)$/.test(given);
const isTarget = ({ type, value, averageValue, averageUtilization }: Partial<Target["target"]>): boolean =>
  type !== "Odd" && isAmount(value) && isAmount(averageValue) && averageUtilization !== 0;
const isName = (given: string): boolean => given !== "" && !given.includes("/");

test("a resource metric has a target value or a target utilization", () => {
  fc.assert(
    fc.property(target, fc.constantFrom("Resource", "ContainerResource"), (given, type) => {
      const resource = { name: "cpu", target: given };
      const metric =
        type === "Resource" ? { type, resource } : { type, containerResource: { ...resource, container: "c" } };
      const { message } = create(horizontalPodAutoscalerStrategy, autoscaler({ metrics: [metric] }));
      const isOne = (given.averageValue === undefined) !== (given.averageUtilization === undefined);
      expect(message === "").toBe(isTarget(given as object) && isOne);
    }),
  );
});

test("an external metric has a name and either a total or a per-pod target", () => {
  fc.assert(
    fc.property(target, name, fc.constantFrom("Object", "External", "Pods"), (given, metricName, type) => {
      const source = { describedObject: { kind: "Service", name: "s" }, metric: { name: metricName }, target: given };
      const metrics = [{ type, [type.toLowerCase()]: source }];
      const { message } = create(horizontalPodAutoscalerStrategy, autoscaler({ metrics }));
      const hasWhole = given.value !== undefined;
      const hasAverage = given.averageValue !== undefined;
      const fits = { Object: hasWhole || hasAverage, External: hasWhole !== hasAverage, Pods: hasAverage };
      expect(message === "").toBe(isTarget(given as object) && isName(metricName) && fits[type]);
    }),
  );
});

test("an autoscaler has minReplicas of at least 1 and at most maxReplicas", () => {
  const count = fc.option(fc.integer({ min: -1, max: 4 }), { nil: undefined });
  fc.assert(
    fc.property(count, count, (minReplicas, maxReplicas = 0) => {
      const { message } = create(horizontalPodAutoscalerStrategy, autoscaler({ minReplicas, maxReplicas }));
      const min = minReplicas ?? 1;
      expect(message === "").toBe(min >= 1 && maxReplicas >= 1 && min <= maxReplicas);
    }),
  );
});

test("scaling rules are bounded and defaulted", () => {
  const policies = fc.option(
    fc.array(
      fc.record({
        type: fc.constantFrom("Pods", "Percent", "Odd"),
        value: fc.integer({ min: 0, max: 2 }),
        periodSeconds: fc.constantFrom(0, 1, 1800, 1801),
      }),
      { maxLength: 2 },
    ),
    { nil: undefined },
  );
  const seconds = fc.option(fc.constantFrom(-1, 0, 3600, 3601), { nil: undefined });
  fc.assert(
    fc.property(policies, seconds, (given, stabilizationWindowSeconds) => {
      const scaleDown = Object.fromEntries(
        Object.entries({ policies: given, stabilizationWindowSeconds }).filter(([, value]) => value !== undefined),
      );
      const { object, message } = create(horizontalPodAutoscalerStrategy, autoscaler({ behavior: { scaleDown } }));
      const areGood = (given ?? [{ type: "Pods", value: 1, periodSeconds: 1 }]).map(
        ({ type, value, periodSeconds }) => type !== "Odd" && value > 0 && periodSeconds > 0 && periodSeconds <= 1800,
      );
      const fitsWindow = ![-1, 3601].includes(stabilizationWindowSeconds ?? 0);
      expect(message === "").toBe(areGood.length > 0 && areGood.every(Boolean) && fitsWindow);
      expect(object.spec.behavior).toMatchObject({
        scaleUp: {
          selectPolicy: "Max",
          policies: [
            { type: "Pods", value: 4 },
            { type: "Percent", value: 100 },
          ],
        },
        scaleDown: { selectPolicy: "Max", ...scaleDown },
      });
    }),
  );
});

const quantity = fc.constantFrom("1", "100m", "1Gi");
const selector = fc.option(fc.constant({ matchLabels: { a: "b" } }), { nil: undefined });
const identified = fc.record({ name: fc.constantFrom("m", "n"), selector }).map(withoutUndefined);
const valued = fc.oneof(
  quantity.map((value) => ({ type: "Value", value })),
  quantity.map((averageValue) => ({ type: "AverageValue", averageValue })),
);
const used = fc.oneof(
  fc.integer({ min: 1, max: 200 }).map((averageUtilization) => ({ type: "Utilization", averageUtilization })),
  quantity.map((averageValue) => ({ type: "AverageValue", averageValue })),
);
const metric = fc.oneof(
  used.map((given) => ({ type: "Resource", resource: { name: "memory", target: given } })),
  used.map((given) => ({
    type: "ContainerResource",
    containerResource: { name: "cpu", container: "c", target: given },
  })),
  fc.tuple(identified, valued).map(([id, given]) => ({ type: "External", external: { metric: id, target: given } })),
  fc.tuple(identified, valued).map(([id, given]) => ({
    type: "Object",
    object: { describedObject: { apiVersion: "v1", kind: "Service", name: "s" }, metric: id, target: given },
  })),
  fc.tuple(identified, quantity).map(([id, averageValue]) => ({
    type: "Pods",
    pods: { metric: id, target: { type: "AverageValue", averageValue } },
  })),
);
const cpu = fc.integer({ min: 1, max: 200 }).map((averageUtilization) => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
}));

test("an autoscaler survives a round trip through v1", () => {
  fc.assert(
    fc.property(fc.array(metric, { maxLength: 3 }), cpu, fc.boolean(), (others, last, behaves) => {
      const { object } = create(
        horizontalPodAutoscalerStrategy,
        autoscaler({
          metrics: [...others, last],
          ...(behaves ? { behavior: { scaleUp: { tolerance: "100m" } } } : {}),
        }),
      );
      const status = {
        currentReplicas: 2,
        desiredReplicas: 3,
        conditions: [{ type: "AbleToScale", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
        currentMetrics: [
          { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 40, averageValue: "400m" } } },
        ],
      };
      const stored = { ...object, status } as unknown as HorizontalPodAutoscaler;
      expect(fromV1(toV1(stored))).toEqual(stored);
    }),
  );
});

test.each(["[1]", "{", '[{"type":5}]', '[{"type":"Pods","pods":{"targetAverageValue":"much"}}]'])(
  "the annotation %s, which is no metrics, is none",
  (text) => {
    const annotations = { "autoscaling.alpha.kubernetes.io/metrics": text };
    const manifest = { metadata: { name: "h", annotations }, spec: { scaleTargetRef, maxReplicas: 3 } };
    const { object, message } = create(horizontalPodAutoscalerV1Strategy, manifest);
    expect(message).toBe("");
    expect(fromV1(object).spec.metrics).toEqual([
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
    ]);
  },
);

test("the v1 annotations cannot change the status", () => {
  const conditions = '[{"type":"AbleToScale","status":"True"}]';
  const annotations = { "autoscaling.alpha.kubernetes.io/conditions": conditions };
  const manifest = { metadata: { name: "h", annotations }, spec: { scaleTargetRef, maxReplicas: 3 } };
  const { object } = create(horizontalPodAutoscalerV1Strategy, manifest);
  expect(object.metadata.annotations).toBeUndefined();
  const changed = update(horizontalPodAutoscalerV1Strategy, object, (next: HorizontalPodAutoscalerV1) => {
    next.metadata.annotations = { ...annotations, other: "x" };
  });
  expect(changed.object.metadata.annotations).toEqual({ other: "x" });
});

test("an autoscaler is printed with its first two targets", () => {
  const use = (resource: string, given: object): object => ({
    type: "Resource",
    resource: { name: resource, target: given },
  });
  const metrics = [
    use("cpu", { type: "Utilization", averageUtilization: 50 }),
    { type: "External", external: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "5" } } },
    use("memory", { type: "AverageValue", averageValue: "1Gi" }),
  ];
  const { object } = create(horizontalPodAutoscalerStrategy, autoscaler({ metrics }));
  expect(row(horizontalPodAutoscalerStrategy, object)).toMatchObject({
    Reference: "Deployment/d",
    Targets: "cpu: <unknown>/50%, <unknown>/5 (avg) + 1 more...",
    MinPods: "1",
    MaxPods: 3,
    Replicas: 0,
  });
});

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
