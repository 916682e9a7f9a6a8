import type { Container, Pod } from "@kubewright/api";
import { expect, test } from "vitest";

import { podRequests } from "./resources.js";

function container(requests: Record<string, string>, restartPolicy?: string): Container {
  return { name: "c", resources: { requests }, ...(restartPolicy === undefined ? {} : { restartPolicy }) };
}

function amounts(spec: NonNullable<Pod["spec"]>): Record<string, number> {
  return Object.fromEntries(podRequests({ metadata: {}, spec }).amounts);
}

test("containers add up", () => {
  expect(amounts({ containers: [container({ cpu: "100m", memory: "1Gi" }), container({ cpu: "1" })] })).toEqual({
    cpu: 1100,
    memory: 2 ** 30,
  });
});

test("init containers run one after the other: the largest counts, if it is more than the containers", () => {
  const initContainers = [container({ cpu: "2" }), container({ cpu: "1", memory: "2Gi" })];
  expect(amounts({ containers: [container({ cpu: "1500m", memory: "3Gi" })], initContainers })).toEqual({
    cpu: 2000,
    memory: 3 * 2 ** 30,
  });
});

test("sidecars run beside the containers, and beside the init containers after them", () => {
  const initContainers = [container({ cpu: "3" }), container({ cpu: "1" }, "Always"), container({ cpu: "2500m" })];
  expect(amounts({ containers: [container({ cpu: "1" })], initContainers })).toEqual({ cpu: 3500 });
  expect(amounts({ containers: [container({ cpu: "3" })], initContainers })).toEqual({ cpu: 4000 });
});

test("overhead comes on top, and requests of the whole pod replace the sum", () => {
  const containers = [container({ cpu: "1", memory: "1Gi" })];
  expect(amounts({ containers, overhead: { cpu: "250m" } })).toEqual({ cpu: 1250, memory: 2 ** 30 });
  expect(amounts({ containers, resources: { requests: { cpu: "2" } }, overhead: { cpu: "250m" } })).toEqual({
    cpu: 2250,
    memory: 2 ** 30,
  });
});

test("equal requests have equal keys, however they are written", () => {
  const key = (requests: Record<string, string>): string =>
    podRequests({ metadata: {}, spec: { containers: [container(requests)] } }).key;
  expect(key({ cpu: "1", memory: "1Gi" })).toBe(key({ memory: "1024Mi", cpu: "1000m" }));
  expect(key({ cpu: "0" })).toBe(key({}));
  expect(key({ cpu: "1" })).not.toBe(key({ cpu: "2" }));
});

test("a malformed quantity is an error that names it", () => {
  expect(() => amounts({ containers: [container({ cpu: "1K" })] })).toThrow('"1K" is not a quantity');
});
