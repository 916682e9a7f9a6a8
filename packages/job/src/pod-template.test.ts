import { JOB_TRACKING_FINALIZER } from "@kubewright/api";
import { expect, test } from "vitest";

import { SELECTOR_LABELS, indexed, job } from "../test/fixtures.js";
import { indexedPodGenerateName, podTemplateOf } from "./pod-template.js";

const INDEX_VARIABLE = {
  name: "JOB_COMPLETION_INDEX",
  valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" } },
};

test("a pod without index is the template with the tracking finalizer, which comes last and once", () => {
  expect(podTemplateOf(job(), {}).metadata).toEqual({ labels: SELECTOR_LABELS, finalizers: [JOB_TRACKING_FINALIZER] });
  const withFinalizers = (finalizers: string[]) =>
    podTemplateOf(job({ template: { metadata: { finalizers } } }), {}).metadata?.finalizers;
  expect(withFinalizers(["example.com/hold"])).toEqual(["example.com/hold", JOB_TRACKING_FINALIZER]);
  expect(withFinalizers([JOB_TRACKING_FINALIZER, "b"])).toEqual([JOB_TRACKING_FINALIZER, "b"]);
});

test("a pod's index is its label, annotation, host name, and a variable of all containers that lack it", () => {
  const own = { name: "JOB_COMPLETION_INDEX", value: "mine" };
  const spec = {
    containers: [
      { name: "a", env: [{ name: "X", value: "1" }] },
      { name: "b", env: [own] },
    ],
    initContainers: [{ name: "i" }],
  };
  const template = podTemplateOf(indexed(4, { template: { metadata: { annotations: { note: "n" } }, spec } }), {
    index: 3,
  });
  expect(template.metadata?.labels).toEqual({ "batch.kubernetes.io/job-completion-index": "3" });
  expect(template.metadata?.annotations).toEqual({ note: "n", "batch.kubernetes.io/job-completion-index": "3" });
  expect(template.spec).toEqual({
    hostname: "job-3",
    containers: [
      { name: "a", env: [{ name: "X", value: "1" }, INDEX_VARIABLE] },
      { name: "b", env: [own] },
    ],
    initContainers: [{ name: "i", env: [INDEX_VARIABLE] }],
  });
});

test("failures of an index are carried on by annotations, ignored ones only if there are any", () => {
  const annotations = (failures: number, ignored: number) =>
    podTemplateOf(indexed(2), { index: 0, failureCounts: { failures, ignored } }).metadata?.annotations;
  expect(annotations(0, 0)).toEqual({
    "batch.kubernetes.io/job-completion-index": "0",
    "batch.kubernetes.io/job-index-failure-count": "0",
  });
  expect(annotations(1, 2)).toMatchObject({
    "batch.kubernetes.io/job-index-failure-count": "1",
    "batch.kubernetes.io/job-index-ignored-failure-count": "2",
  });
});

test("a long name is cut so that the index survives", () => {
  expect(indexedPodGenerateName("job", 3)).toBe("job-3-");
  expect(indexedPodGenerateName("a".repeat(60), 12)).toBe(`${"a".repeat(54)}-12-`);
  expect(indexedPodGenerateName("a".repeat(60), 12)).toHaveLength(58);
});
