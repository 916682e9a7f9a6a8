import { type Pod, deepFreeze } from "@kubewright/api";
import { expect, test } from "vitest";

import { comparePodsForDeletion } from "./pod-ranking.js";

interface Shape {
  node?: string | null;
  phase?: string;
  ready?: boolean;
  readySince?: string;
  restarts?: number[];
  initRestarts?: Record<string, { restarts: number; sidecar: boolean }>;
  created?: string | undefined;
}

function pod(name: string, shape: Shape = {}): Pod {
  const {
    node = "node-1",
    phase = "Running",
    ready = true,
    readySince = "2026-01-01T00:00:00Z",
    restarts = [],
    initRestarts = {},
  } = shape;
  const created = "created" in shape ? shape.created : "2026-01-01T00:00:00Z";
  const status = (restartCount: number, container: string) => ({
    name: container,
    restartCount,
    image: "",
    imageID: "",
    ready: true,
  });
  return deepFreeze({
    metadata: { name, ...(created === undefined ? {} : { creationTimestamp: created }) },
    spec: {
      containers: [],
      initContainers: Object.entries(initRestarts).map(([container, { sidecar }]) => ({
        name: container,
        ...(sidecar ? { restartPolicy: "Always" } : {}),
      })),
      ...(node === null ? {} : { nodeName: node }),
    },
    status: {
      phase,
      conditions: [
        {
          type: "Ready",
          status: ready ? "True" : "False",
          ...(readySince === "" ? {} : { lastTransitionTime: readySince }),
        },
      ],
      containerStatuses: restarts.map((count, index) => status(count, `c${index}`)),
      initContainerStatuses: Object.entries(initRestarts).map(([container, { restarts: count }]) =>
        status(count, container),
      ),
    },
  });
}

const cases: [rule: string, first: Shape, second: Shape][] = [
  [
    "an unassigned pod before an assigned one",
    { node: null, phase: "Running" },
    { node: "n", phase: "Pending", ready: false },
  ],
  ["Pending before Unknown", { phase: "Pending" }, { phase: "Unknown", ready: false }],
  ["Unknown before Running", { phase: "Unknown" }, { phase: "Running", ready: false }],
  ["an empty phase like Pending", { phase: "" }, { phase: "Unknown" }],
  ["not ready before ready", { ready: false, restarts: [0] }, { ready: true, restarts: [9] }],
  [
    "ready for a shorter time first",
    { readySince: "2026-01-01T00:00:50Z" },
    { readySince: "2026-01-01T00:00:00Z", restarts: [9] },
  ],
  ["a missing ready time first", { readySince: "" }, { readySince: "2026-01-01T00:00:00Z" }],
  ["more restarts first", { restarts: [0, 3] }, { restarts: [2, 2] }],
  [
    "more sidecar restarts first",
    { initRestarts: { s: { restarts: 5, sidecar: true } } },
    { initRestarts: { s: { restarts: 1, sidecar: true } } },
  ],
  ["newer first", { created: "2026-01-02T00:00:00Z" }, { created: "2026-01-01T00:00:00Z" }],
  ["a missing creation time as the newest", { created: undefined }, { created: "2026-01-01T00:00:00Z" }],
];

test.each(cases)("ranks %s", (_rule, first, second) => {
  // The names have the opposite order, so that only the rule can cause this result.
  const a = pod("z", first);
  const b = pod("a", second);
  expect(comparePodsForDeletion(a, b)).toBeLessThan(0);
  expect(comparePodsForDeletion(b, a)).toBeGreaterThan(0);
});

test("restarts of init containers that are not sidecars do not count", () => {
  const restarted = pod("b", { initRestarts: { s: { restarts: 5, sidecar: false } } });
  expect(comparePodsForDeletion(restarted, pod("a"))).toBeGreaterThan(0);
});

test("pods that no rule distinguishes are ordered by name, independent of the input order", () => {
  const names = (list: Pod[]): unknown[] => list.sort(comparePodsForDeletion).map(({ metadata }) => metadata.name);
  expect(names([pod("c"), pod("a"), pod("b")])).toEqual(["a", "b", "c"]);
  expect(names([pod("b"), pod("c"), pod("a")])).toEqual(["a", "b", "c"]);
});

test("[running ready, pending, running not ready, unassigned] becomes unassigned, pending, not ready, ready", () => {
  const list = [
    pod("ready"),
    pod("pending", { phase: "Pending", ready: false }),
    pod("unready", { ready: false }),
    pod("unassigned", { node: null }),
  ];
  expect(list.sort(comparePodsForDeletion).map(({ metadata }) => metadata.name)).toEqual([
    "unassigned",
    "pending",
    "unready",
    "ready",
  ]);
});
