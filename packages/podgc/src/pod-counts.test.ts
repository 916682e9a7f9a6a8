import { type Pod, keyOf } from "@kubewright/api";
import { expect, test } from "vitest";

import { PodCounts } from "./pod-counts.js";

const pod = (name: string, phase: string, nodeName?: string, deletionTimestamp?: string): Pod => ({
  metadata: { namespace: "default", name, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
  spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
  status: { phase },
});

test("pods are counted by what they are now, however often they change", () => {
  const podCounts = new PodCounts();
  const counts = (): unknown => [podCounts.terminated, podCounts.terminating, [...podCounts.nodeNames()]];
  podCounts.set(pod("a", "Pending"));
  expect(counts()).toEqual([0, 0, []]);
  podCounts.set(pod("a", "Running", "n1"));
  podCounts.set(pod("b", "Running", "n1"));
  expect(counts()).toEqual([0, 0, ["n1"]]);
  podCounts.set(pod("a", "Succeeded", "n1"));
  podCounts.set(pod("b", "Running", "n2", "2026-01-01T00:00:00Z"));
  expect(counts()).toEqual([1, 1, ["n1", "n2"]]);
  podCounts.delete(keyOf(pod("b", "Running")));
  podCounts.delete(keyOf(pod("b", "Running")));
  expect(counts()).toEqual([1, 0, ["n1"]]);
  podCounts.delete(keyOf(pod("a", "Succeeded")));
  expect(counts()).toEqual([0, 0, []]);
});
