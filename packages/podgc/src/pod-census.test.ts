import { type Pod, keyOf } from "@kubewright/api";
import { expect, test } from "vitest";

import { PodCensus } from "./pod-census.js";

const pod = (name: string, phase: string, nodeName?: string, deletionTimestamp?: string): Pod => ({
  metadata: { namespace: "default", name, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
  spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
  status: { phase },
});

test("pods are counted by what they are now, however often they change", () => {
  const census = new PodCensus();
  const counts = (): unknown => [census.terminated, census.terminating, [...census.nodeNames()]];
  census.set(pod("a", "Pending"));
  expect(counts()).toEqual([0, 0, []]);
  census.set(pod("a", "Running", "n1"));
  census.set(pod("b", "Running", "n1"));
  expect(counts()).toEqual([0, 0, ["n1"]]);
  census.set(pod("a", "Succeeded", "n1"));
  census.set(pod("b", "Running", "n2", "2026-01-01T00:00:00Z"));
  expect(counts()).toEqual([1, 1, ["n1", "n2"]]);
  census.delete(keyOf(pod("b", "Running")));
  census.delete(keyOf(pod("b", "Running")));
  expect(counts()).toEqual([1, 0, ["n1"]]);
  census.delete(keyOf(pod("a", "Succeeded")));
  expect(counts()).toEqual([0, 0, []]);
});
