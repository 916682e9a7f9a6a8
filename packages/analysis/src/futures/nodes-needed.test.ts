import { seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import type { TraceRecord } from "../run/trace.js";
import { type NodeSize, parseNodeSize } from "./node-size.js";
import { type NodesNeeded, NodesNeededFollower } from "./nodes-needed.js";

const GI = 2 ** 30;

interface Wanted {
  readonly cpuMillis?: number;
  readonly memoryBytes?: number;
}

function podRecord(uid: string, phase: string, wanted: Wanted = {}): TraceRecord {
  const change = phase === "Pending" ? "ADDED" : "MODIFIED";
  const at = "2026-01-01T00:00:00.000Z";
  return { type: "object", at, change, kind: "Pod", namespace: "default", name: uid, uid, state: { phase }, ...wanted };
}

/** Adds all pods at the same time. */
function neededFor(size: string, pods: readonly Wanted[]): NodesNeeded {
  const follower = new NodesNeededFollower(parseNodeSize(size));
  for (const [index, wanted] of pods.entries()) follower.add(podRecord(String(index), "Pending", wanted));
  return follower.needed;
}

const times = (count: number, wanted: Wanted): Wanted[] => Array.from({ length: count }, () => wanted);

test("large pods are placed first, and small pods fill the gaps", () => {
  const pods = [...times(4, { cpuMillis: 1000 }), ...times(2, { cpuMillis: 3000 })];
  expect(neededFor("4,16Gi", pods)).toEqual({ nodes: 3, tooLarge: 0 });
  expect(neededFor("4,16Gi", pods.slice(2))).toEqual({ nodes: 2, tooLarge: 0 });
});

test("memory and the number of pods are limits as well as cores", () => {
  expect(neededFor("4,16Gi", times(5, { cpuMillis: 100, memoryBytes: 8 * GI })).nodes).toBe(3);
  expect(neededFor("4,16Gi", times(111, {})).nodes).toBe(2);
  expect(neededFor("4,16Gi,10", times(111, {})).nodes).toBe(12);
});

test("a pod that is larger than a node is counted, and takes no node", () => {
  expect(neededFor("4,16Gi", [{ cpuMillis: 4001 }, { memoryBytes: 17 * GI }, { cpuMillis: 10 }])).toEqual({
    nodes: 1,
    tooLarge: 2,
  });
});

test("pods that have ended leave their room to others", () => {
  const follower = new NodesNeededFollower(parseNodeSize("1,1Gi"));
  for (let index = 0; index < 10; index++) {
    follower.add(podRecord(String(index), "Pending", { cpuMillis: 1000 }));
    follower.add(podRecord(String(index), "Running"));
    follower.add(podRecord(String(index), "Succeeded"));
  }
  expect(follower.needed).toEqual({ nodes: 1, tooLarge: 0 });
});

test("skipping the packing never misses a higher number of nodes", () => {
  const random = seededRandom(7);
  const size: NodeSize = { cpuMillis: 4000, memoryBytes: 16 * GI, pods: 20 };
  for (let round = 0; round < 50; round++) {
    const follower = new NodesNeededFollower(size);
    const there: { readonly uid: string; readonly wanted: Wanted }[] = [];
    let max = 0;
    for (let step = 0; step < 60; step++) {
      if (random.next() < 0.35 && there.length > 0) {
        const [gone] = there.splice(Math.floor(random.next() * there.length), 1);
        follower.add(podRecord(gone!.uid, "Succeeded"));
        continue;
      }
      // In every other round the pods waste nearly half of a node.
      const wanted =
        round % 2 === 0
          ? { cpuMillis: 2100 }
          : { cpuMillis: 100 * Math.floor(random.next() * 41), memoryBytes: GI * Math.floor(random.next() * 17) };
      there.push({ uid: String(step), wanted });
      follower.add(podRecord(String(step), "Pending", wanted));
      max = Math.max(
        max,
        firstFitDecreasing(
          size,
          there.map((pod) => pod.wanted),
        ),
      );
    }
    expect(follower.needed.nodes).toBe(max);
  }
});

/** Places one pod after the other. */
function firstFitDecreasing(size: NodeSize, pods: readonly Wanted[]): number {
  const share = ({ cpuMillis = 0, memoryBytes = 0 }: Wanted): number =>
    Math.max(cpuMillis / size.cpuMillis, memoryBytes / size.memoryBytes);
  const nodes: { cpuMillis: number; memoryBytes: number; pods: number }[] = [];
  const sorted = [...pods].sort(
    (a, b) =>
      share(b) - share(a) || (b.cpuMillis ?? 0) - (a.cpuMillis ?? 0) || (b.memoryBytes ?? 0) - (a.memoryBytes ?? 0),
  );
  for (const { cpuMillis = 0, memoryBytes = 0 } of sorted) {
    let node = nodes.find((each) => each.cpuMillis >= cpuMillis && each.memoryBytes >= memoryBytes && each.pods >= 1);
    if (node === undefined) nodes.push((node = { ...size }));
    node.cpuMillis -= cpuMillis;
    node.memoryBytes -= memoryBytes;
    node.pods--;
  }
  return nodes.length;
}

test.each([
  ["4,16Gi", { cpuMillis: 4000, memoryBytes: 16 * GI, pods: 110 }],
  ["3920m, 15.5Gi, 58", { cpuMillis: 3920, memoryBytes: 15.5 * GI, pods: 58 }],
])("the size %j", (text, size) => {
  expect(parseNodeSize(text)).toEqual(size);
});

test.each(["", "4", "4,", "4,16Gb", "0,16Gi", "-4,16Gi", "4,16Gi,0", "4,16Gi,1,2", "four,16Gi"])(
  "%j is no size, and an example of one is given",
  (text) => {
    expect(() => parseNodeSize(text)).toThrow(/--node-size: .* is no size; .* for example 4,16Gi/);
  },
);
