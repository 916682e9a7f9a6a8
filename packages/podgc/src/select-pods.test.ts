import { expect, test } from "vitest";

import type { Node, Pod } from "@kubewright/api";

import {
  selectTerminatedPods,
  selectTerminatingPodsOutOfService,
  selectUnscheduledTerminatingPods,
} from "./select-pods.js";

interface Shape {
  readonly phase?: string;
  readonly reason?: string;
  /** Second of creation. */
  readonly at?: number;
  readonly node?: string;
  readonly terminating?: boolean;
  readonly namespace?: string;
}

function pod(
  name: string,
  { phase, reason, at = 0, node, terminating = false, namespace = "default" }: Shape = {},
): Pod {
  const time = `2026-01-01T00:00:${String(at).padStart(2, "0")}Z`;
  return {
    metadata: { name, namespace, creationTimestamp: time, ...(terminating ? { deletionTimestamp: time } : {}) },
    spec: { containers: [], ...(node === undefined ? {} : { nodeName: node }) },
    status: { ...(phase === undefined ? {} : { phase }), ...(reason === undefined ? {} : { reason }) },
  };
}

const names = (pods: readonly { readonly metadata: { readonly name?: string } }[]) =>
  pods.map(({ metadata }) => metadata.name);

test.each([
  [
    "the oldest go",
    1,
    [
      pod("a", { phase: "Failed", at: 1 }),
      pod("b", { phase: "Succeeded", at: 2 }),
      pod("c", { phase: "Failed", at: 3 }),
    ],
    ["a", "b"],
  ],
  [
    "evicted ones go first",
    1,
    [
      pod("a", { phase: "Failed", at: 1 }),
      pod("b", { phase: "Succeeded", at: 2 }),
      pod("c", { phase: "Failed", reason: "Evicted", at: 3 }),
    ],
    ["c", "a"],
  ],
  [
    "those that run are not counted",
    1,
    [
      pod("a", { phase: "Running", at: 1 }),
      pod("b", { phase: "Succeeded", at: 2 }),
      pod("c", { phase: "Failed", at: 3 }),
    ],
    ["b"],
  ],
  ["0 turns it off", 0, [pod("a", { phase: "Failed" })], []],
  ["-1 turns it off", -1, [pod("a", { phase: "Failed" })], []],
  ["as many as the threshold stay", 2, [pod("a", { phase: "Failed" }), pod("b", { phase: "Failed" })], []],
  [
    "equally old ones go by name",
    1,
    [pod("y", { phase: "Failed", namespace: "a" }), pod("x", { phase: "Failed", namespace: "b" })],
    ["x"],
  ],
  ["an empty phase counts as ended", 1, [pod("a", { phase: "", at: 1 }), pod("b", { phase: "Failed", at: 2 })], ["a"]],
  ["no phase counts as ended", 1, [pod("a", { at: 1 }), pod("b", { phase: "Failed", at: 2 })], ["a"]],
  [
    "one that succeeded was not evicted",
    1,
    [pod("a", { phase: "Failed", at: 1 }), pod("b", { phase: "Succeeded", reason: "Evicted", at: 2 })],
    ["a"],
  ],
  [
    "pending and unknown ones have not ended",
    1,
    [pod("a", { phase: "Pending" }), pod("b", { phase: "Unknown" }), pod("c", { phase: "Failed" })],
    [],
  ],
])("of terminated pods %s", (_title, threshold, pods, expected) => {
  expect(names(selectTerminatedPods(pods, threshold))).toEqual(expected);
});

function node({ ready, tainted = true }: { ready?: string; tainted?: boolean }): Node {
  return {
    metadata: { name: "n" },
    spec: tainted ? { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] } : {},
    status: ready === undefined ? {} : { conditions: [{ type: "Ready", status: ready }] },
  };
}

test.each([
  ["not ready", node({ ready: "False" }), true],
  ["of unknown readiness", node({ ready: "Unknown" }), true],
  ["without a Ready condition", node({}), true],
  ["ready", node({ ready: "True" }), false],
  ["not ready but in service", node({ ready: "False", tainted: false }), false],
  ["absent", undefined, false],
])("a terminating pod on a node out of service that is %s", (_title, its, isSelected) => {
  const selected = selectTerminatingPodsOutOfService(
    [
      pod("terminating", { node: "n", terminating: true }),
      pod("not terminating", { node: "n" }),
      pod("unscheduled", { terminating: true }),
    ],
    () => its,
  );
  expect(names(selected)).toEqual(isSelected ? ["terminating"] : []);
});

test("of unscheduled pods only the terminating ones are selected", () => {
  const pods = [pod("a", { terminating: true }), pod("b"), pod("c", { terminating: true, node: "n" })];
  expect(names(selectUnscheduledTerminatingPods(pods))).toEqual(["a"]);
});
