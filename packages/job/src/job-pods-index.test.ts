import type { Pod } from "@kubewright/api";
import { mutableCopy } from "@kubewright/api";
import { Store } from "@kubewright/informer";
import { expect, test } from "vitest";

import { SELECTOR_LABELS, failed, job, pod, succeeded } from "../test/fixtures.js";
import { jobPodCandidates, jobPodsIndex, jobPodsIndexValues } from "./job-pods-index.js";
import type { PodObject } from "./job-spec.js";

function candidates(...pods: PodObject[]): (string | undefined)[] {
  const store = new Store<Pod>({ indexers: { [jobPodsIndex]: jobPodsIndexValues } });
  for (const each of pods) store.add(each);
  return jobPodCandidates(store, job()).map(({ metadata }) => metadata.name);
}

test("a sync looks at the Job's own pods and at strays, but not at successes that were accounted for", () => {
  const other = mutableCopy(pod("other")) as Pod;
  other.metadata.ownerReferences![0]!.uid = "other-uid";
  expect(
    candidates(
      pod("running", { tracked: false }),
      succeeded("ended"),
      succeeded("counted", { tracked: false }),
      failed("failed", { tracked: false }),
      pod("stray", { owned: false }),
      other,
    ),
  ).toEqual(["running", "ended", "failed", "stray"]);
});

test("a counted success that has lost the Job's label stays in the index, to be released", () => {
  expect(SELECTOR_LABELS).toEqual({ "batch.kubernetes.io/controller-uid": "job-uid" });
  expect(candidates(succeeded("lost", { tracked: false, labels: { a: "b" } }))).toEqual(["lost"]);
});

test("a Job without a UID has no pods of its own", () => {
  expect(() => jobPodCandidates({ byIndex: () => [] }, job({}, { uid: "" }))).toThrow("the Job needs a namespace");
});
