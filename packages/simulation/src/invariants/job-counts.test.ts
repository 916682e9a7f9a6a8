import type { JobSpec, Pod } from "@kubewright/api";
import type { JobDecision } from "@kubewright/job";
import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { type PodParts, condition, job, pod } from "../../test/objects.js";
import { countedOnce, recordedBeforeRemoval } from "./job-counts.js";

const CONTROLLER = "job-controller";
const PODS = "pods";
const recorded = (succeeded: string[], failed: string[] = []) => ({ uncountedTerminatedPods: { succeeded, failed } });
const indexed = { completionMode: "Indexed", completions: 3, parallelism: 3 } as const;

describe("S1 counted once", () => {
  it("accepts a pod that is recorded, freed and counted", () => {
    const history = new History(countedOnce);
    history.store(job());
    history.store(pod(), CONTROLLER);
    history.store(pod("Succeeded"), "kubelet");
    history.store(job(recorded(["uid-of-a"])), CONTROLLER);
    history.store(pod("Succeeded", { tracked: false }), CONTROLLER);
    history.store(job({ ...recorded([]), succeeded: 1 }), CONTROLLER);
    expect(history.violations).toEqual([]);
  });

  it("refuses a UID that comes back after it was counted", () => {
    const history = new History(countedOnce);
    history.store(job());
    history.store(pod("Succeeded"), CONTROLLER);
    history.store(job(recorded(["uid-of-a"])), CONTROLLER);
    history.store(job({ ...recorded([]), succeeded: 1 }), CONTROLLER);
    history.store(job({ ...recorded(["uid-of-a"]), succeeded: 1 }), CONTROLLER);
    expect(history.violations).toEqual([
      "Job default/pi: Pod default/a is recorded as succeeded, after it was counted as succeeded",
    ]);
  });

  it("accepts a second count of a pod that did not belong to the Job meanwhile, and of no other", () => {
    const count = (history: History): void => {
      history.store(pod("Succeeded"), CONTROLLER);
      history.store(job(recorded(["uid-of-a"])), CONTROLLER);
      history.store(pod("Succeeded", { tracked: false }), CONTROLLER);
      history.store(job({ ...recorded([]), succeeded: 1 }), CONTROLLER);
    };
    const adopted = new History(countedOnce);
    adopted.store(job());
    count(adopted);
    adopted.store(pod("Succeeded", { tracked: false, metadata: { ownerReferences: [] } }), "user");
    adopted.store(pod("Succeeded"), CONTROLLER);
    adopted.store(job({ ...recorded(["uid-of-a"]), succeeded: 1 }), CONTROLLER);
    expect(adopted.violations).toEqual([]);
    const kept = new History(countedOnce);
    kept.store(job());
    count(kept);
    kept.store(pod("Succeeded"), CONTROLLER);
    kept.store(job({ ...recorded(["uid-of-a"]), succeeded: 1 }), CONTROLLER);
    expect(kept.violations).toHaveLength(1);
  });

  it("refuses a UID that changes its list, and one in both", () => {
    const history = new History(countedOnce);
    history.store(job());
    history.store(pod("Succeeded"), CONTROLLER);
    history.store(job(recorded(["uid-of-a"])), CONTROLLER);
    history.store(job({ ...recorded(["uid-of-a"], ["uid-of-a"]) }), CONTROLLER);
    expect(history.violations).toContain("Job default/pi: Pod default/a is recorded twice in one status");
    expect(history.violations).toContain(
      "Job default/pi: Pod default/a is recorded as failed, after it was recorded as succeeded",
    );
  });

  it("refuses to record a failure that the policy ignores, or of an index beyond the last", () => {
    const recording = (spec: Partial<JobSpec>, failed: Pod, seen: readonly Pod[] = []): readonly string[] => {
      const history = new History(countedOnce);
      history.store(job({}, spec));
      history.store(pod("Running", { index: 3 }), CONTROLLER);
      for (const earlier of seen) history.store(earlier, "kubelet");
      history.store(failed, "kubelet");
      history.store(job(recorded([], ["uid-of-a"]), spec), CONTROLLER);
      return history.violations;
    };
    const failing = pod("Failed", { index: 3, status: { conditions: [condition("DisruptionTarget")] } });
    const onPodConditions = [{ type: "DisruptionTarget", status: "True" }];
    const policy = (action: string): Partial<JobSpec> => ({
      podFailurePolicy: { rules: [{ action, onPodConditions }] },
    });
    expect(recording(policy("Count"), failing)).toEqual([]);
    expect(recording(policy("Ignore"), failing)).toEqual([
      "Job default/pi: Pod default/a is recorded as failed, but its Job's policy ignores that it has failed",
    ]);
    // The pod may have been read before that status.
    expect(recording(policy("Ignore"), failing, [pod("Failed", { index: 3 })])).toEqual([]);
    expect(recording({ ...indexed, completions: 4 }, failing)).toEqual([]);
    expect(recording(indexed, failing)).toEqual([
      "Job default/pi: Pod default/a is recorded as failed, but is of no index below 3",
    ]);
  });

  it("refuses to count a pod for an end that it has not come to", () => {
    const history = new History(countedOnce);
    history.store(job());
    history.store(pod("Running"), CONTROLLER);
    history.store(pod("Failed", { name: "b" }), CONTROLLER);
    history.store(job(recorded(["uid-of-b"], ["uid-of-a"])), CONTROLLER);
    expect(history.violations).toEqual([
      "Job default/pi: Pod default/b is recorded as succeeded, but has never succeeded",
      "Job default/pi: Pod default/a is recorded as failed, but has neither failed nor been deleted",
    ]);
  });

  it("refuses a UID that no pod has had", () => {
    const history = new History(countedOnce);
    history.store(job());
    history.store(job(recorded(["x"])), CONTROLLER);
    expect(history.violations).toEqual([
      "Job default/pi: pod x is recorded as succeeded, but no pod of a Job has ever had the UID x",
    ]);
  });

  it("refuses numbers that change by something else than what leaves the lists", () => {
    const history = new History(countedOnce);
    history.store(job());
    history.store(pod("Failed"), CONTROLLER);
    history.store(job(recorded([], ["uid-of-a"])), CONTROLLER);
    history.store(job({ ...recorded([]), failed: 2 }), CONTROLLER);
    expect(history.violations).toEqual([
      "Job default/pi: failed goes from 0 to 2, while 1 recorded pods leave the list",
    ]);
  });

  it("refuses a number of successes that is not that of the completed indexes", () => {
    const history = new History(countedOnce);
    history.store(job({}, indexed));
    history.store(job({ succeeded: 2, completedIndexes: "0" }, indexed), CONTROLLER);
    expect(history.violations).toEqual(["Job default/pi: succeeded is 2, and completedIndexes 0"]);
  });

  it("refuses to forget an index, but for those beyond fewer completions", () => {
    const history = new History(countedOnce);
    history.store(job({}, indexed));
    history.store(job({ succeeded: 2, completedIndexes: "0,2" }, indexed), CONTROLLER);
    const fewer = job({ succeeded: 2, completedIndexes: "0,2" }, { ...indexed, completions: 2, parallelism: 2 });
    history.store({ ...fewer, metadata: { ...fewer.metadata, generation: 2 } });
    const after = job({ succeeded: 1, completedIndexes: "0" }, { ...indexed, completions: 2, parallelism: 2 });
    history.store({ ...after, metadata: { ...after.metadata, generation: 2 } }, CONTROLLER);
    expect(history.violations).toEqual([]);

    const forgotten = { ...job({ succeeded: 0, completedIndexes: "" }, { ...indexed, completions: 2 }) };
    history.store({ ...forgotten, metadata: { ...forgotten.metadata, generation: 2 } }, CONTROLLER);
    expect(history.violations).toEqual(["Job default/pi: index 0 was completed and is not any more: 0 is now "]);
  });

  it("accepts pods of a failing Job as failed, however they are", () => {
    const history = new History(countedOnce);
    history.store(job());
    history.store(pod("Running"), CONTROLLER);
    const conditions = [{ type: "FailureTarget", status: "True" as const }];
    history.store(job({ ...recorded([], ["uid-of-a"]), conditions }), CONTROLLER);
    expect(history.violations).toEqual([]);
  });

  it("accepts anything of a pod that has left its end (X3), and where old lists meet a restart (X7)", () => {
    const flipped = new History(countedOnce);
    flipped.store(job());
    flipped.store(pod("Unknown"), CONTROLLER);
    flipped.store(pod("Failed"), "kubelet");
    flipped.store(pod("Running"), "kubelet");
    flipped.store(job(recorded(["uid-of-a"])), CONTROLLER);
    expect(flipped.violations).toEqual([]);

    const past = new History(countedOnce, {
      events: [
        { at: "1m", for: "1m", staleList: { by: "1m" } },
        { at: "1m", controllerCrashes: { controller: "job-controller" } },
      ],
    });
    past.store(job());
    past.store(job(recorded(["x"])), CONTROLLER);
    expect(past.violations).toEqual([]);
  });

  it("refuses indexes that the Job does not have any more", () => {
    const written = (status: object): readonly string[] => {
      const history = new History(countedOnce);
      history.store(job({ completedIndexes: "0,4", succeeded: 2 }, { ...indexed, completions: 5 }));
      const fewer = (reported: object) => {
        const made = job(reported, indexed);
        return { ...made, metadata: { ...made.metadata, generation: 2 } };
      };
      history.store(fewer({ completedIndexes: "0,4", succeeded: 2 }));
      history.store(fewer(status), CONTROLLER);
      return history.violations;
    };
    expect(written({ completedIndexes: "0", succeeded: 1, failedIndexes: "2" })).toEqual([]);
    expect(written({ completedIndexes: "0,4", succeeded: 2 })).toEqual([
      "Job default/pi: completedIndexes is 0,4, and completions is 3",
    ]);
    expect(written({ completedIndexes: "0", succeeded: 1, failedIndexes: "3" })).toHaveLength(1);
  });
});

describe("S2 recorded before finalizer removal", () => {
  const showEnded = (history: History) => history.show(pod("Succeeded"), { component: CONTROLLER });
  /** Reports the pods that the sync observed, at its end. */
  const decide = (history: History, ...seen: Pod[]): void => {
    const active = seen.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    history.decide({
      controller: CONTROLLER,
      decision: { key: "default/pi", plan: { observed: { active, tracked: seen } } } as unknown as JobDecision,
    });
  };

  it("reports a removed finalizer of the only pod with the failure count of its index", () => {
    const perIndex = { ...indexed, backoffLimitPerIndex: 2 };
    const removed = (owner: Parameters<typeof job>[0], ...others: Pod[]): readonly string[] => {
      const history = new History(recordedBeforeRemoval);
      const failed = pod("Failed", { index: 1 });
      history.store(job({ ...recorded([], ["uid-of-a"]), ...owner }, perIndex));
      history.store(failed, CONTROLLER);
      for (const other of others) history.store(other, CONTROLLER);
      history.show(failed, { component: CONTROLLER });
      history.store(pod("Failed", { index: 1, tracked: false }), CONTROLLER);
      history.decide({
        controller: CONTROLLER,
        decision: { key: "default/pi", plan: { observed: { active: others, tracked: [failed] } } } as never,
      });
      return history.violations;
    };
    expect(removed({})).toEqual([
      "Pod default/a: Job default/pi removes its finalizer, and no other pod of index 1 knows that it has failed",
    ]);
    expect(removed({}, pod("Running", { name: "b", index: 2 }))).toHaveLength(1);
    expect(removed({}, pod("Running", { name: "b", index: 1 }))).toEqual([]);
    expect(removed({ failedIndexes: "1" })).toEqual([]);
    expect(removed({ completedIndexes: "0-1", succeeded: 2 })).toEqual([]);
    expect(removed({ conditions: [condition("FailureTarget", "DeadlineExceeded")] })).toEqual([]);
  });

  it("reports a surplus pod that is deleted before its finalizer is removed", () => {
    const removed = (tracked: boolean, plan: object): readonly string[] => {
      const history = new History(recordedBeforeRemoval);
      history.store(job());
      history.store(pod(), CONTROLLER);
      if (!tracked) history.store(pod("Running", { tracked }), CONTROLLER);
      const metadata = { deletionTimestamp: "2026-03-02T10:00:30Z" };
      history.store(pod("Running", { tracked, metadata }), { component: CONTROLLER, verb: "delete" });
      const decision = { key: "default/pi", plan: { observed: { active: [pod()], tracked: [pod()] }, ...plan } };
      history.decide({ controller: CONTROLLER, decision: decision as never });
      return history.violations;
    };
    const pods = { create: [], remove: [pod()] };
    expect(removed(true, { pods })).toEqual([
      "Pod default/a: is deleted with the tracking finalizer, though its Job continues",
    ]);
    expect(removed(false, { pods })).toEqual([]);
    expect(removed(true, { end: {} })).toEqual([]);
  });

  it("reports a removed finalizer of an ended pod that is not recorded", () => {
    const history = new History(recordedBeforeRemoval);
    history.store(job());
    history.store(pod("Succeeded"), CONTROLLER);
    showEnded(history);
    history.store(pod("Succeeded", { tracked: false }), CONTROLLER);
    decide(history);
    expect(history.violations).toEqual([
      "Pod default/a: Job default/pi removes its finalizer, Succeeded, and its status has not recorded it",
    ]);
  });

  it("accepts that pods go uncounted which a Job that succeeds has deleted before they ended, and no others", () => {
    const removed = (...phases: ("Failed" | "deleted" | "succeeds")[]): readonly string[] => {
      const history = new History(recordedBeforeRemoval);
      const metadata = { deletionTimestamp: "2026-03-02T10:00:00Z" };
      const deleted = (): Partial<PodParts> =>
        history.get(PODS, "default", "a")?.metadata.deletionTimestamp ? { metadata } : {};
      history.store(job());
      history.store(pod("Running"), CONTROLLER);
      for (const phase of phases)
        if (phase === "succeeds")
          history.store(job({ conditions: [condition("SuccessCriteriaMet", "SuccessPolicy")] }), CONTROLLER);
        else if (phase === "Failed") history.store(pod("Failed", deleted()), "kubelet");
        else history.store(pod(history.get<Pod>(PODS, "default", "a")?.status?.phase, { metadata }), "user");
      showEnded(history);
      history.store(pod("Failed", { tracked: false }), CONTROLLER);
      decide(history);
      return history.violations;
    };
    expect(removed("succeeds", "deleted", "Failed")).toEqual([]);
    expect(removed("deleted", "Failed", "succeeds")).toEqual([]);
    expect(removed("Failed", "succeeds", "deleted")).toHaveLength(1);
    expect(removed("succeeds", "Failed")).toHaveLength(1);
    expect(removed("deleted", "Failed")).toHaveLength(1);
  });

  it("accepts so, of a Job that succeeds, what was deleted in the second in which it failed, and no earlier failure", () => {
    const removed = (finishedAt: string): readonly string[] => {
      const history = new History(recordedBeforeRemoval);
      const state = { terminated: { exitCode: 1, finishedAt } };
      const containerStatuses = [{ name: "main", image: "", imageID: "", ready: false, restartCount: 0, state }];
      const metadata = { deletionTimestamp: "2026-03-02T10:00:05Z", deletionGracePeriodSeconds: 5 };
      history.store(job());
      history.store(pod("Running"), CONTROLLER);
      history.store(pod("Failed", { status: { containerStatuses } }), "kubelet");
      history.store(job({ conditions: [condition("SuccessCriteriaMet", "SuccessPolicy")] }), CONTROLLER);
      history.store(pod("Failed", { status: { containerStatuses }, metadata }), "user");
      showEnded(history);
      history.store(pod("Failed", { status: { containerStatuses }, metadata, tracked: false }), CONTROLLER);
      decide(history);
      return history.violations;
    };
    expect(removed("2026-03-02T10:00:00Z")).toEqual([]);
    expect(removed("2026-03-02T09:59:59Z")).toHaveLength(1);
  });

  it("refuses it also when the pod vanishes with its last finalizer", () => {
    const history = new History(recordedBeforeRemoval);
    history.store(job());
    history.store(pod("Succeeded"), CONTROLLER);
    showEnded(history);
    history.remove(pod("Succeeded"), CONTROLLER);
    decide(history);
    expect(history.violations).toHaveLength(1);
  });

  it.each([
    ["its UID", job(recorded(["uid-of-a"])), {}],
    ["its index", job({ completedIndexes: "0-1", succeeded: 2 }, indexed), { index: 1 }],
    [
      "its index as one that has failed",
      job({ failedIndexes: "1" }, { ...indexed, backoffLimitPerIndex: 0 }),
      { index: 1 },
    ],
    ["no index that the Job has", job({}, indexed), { index: 3 }],
    ["its index, as failed", job({ failedIndexes: "1" }, { ...indexed, backoffLimitPerIndex: 0 }), { index: 1 }],
  ])("accepts it when the status has %s", (_what, owner, parts) => {
    const history = new History(recordedBeforeRemoval);
    history.store(owner);
    history.store(pod("Succeeded", parts), CONTROLLER);
    showEnded(history);
    history.store(pod("Succeeded", { ...parts, tracked: false }), CONTROLLER);
    decide(history);
    expect(history.violations).toEqual([]);
  });

  it("reports a removed finalizer of another failure of an index that has failed", () => {
    const history = new History(recordedBeforeRemoval);
    history.store(job({ failedIndexes: "1" }, { ...indexed, backoffLimitPerIndex: 0 }));
    history.store(pod("Failed", { index: 1 }), CONTROLLER);
    history.show(pod("Failed", { index: 1 }), { component: CONTROLLER });
    history.store(pod("Failed", { index: 1, tracked: false }), CONTROLLER);
    decide(history);
    expect(history.violations).toHaveLength(1);
  });

  it("accepts it for a failure that the policy ignores, a Job that is finished or being deleted, and who sees it run", () => {
    const ignored = new History(recordedBeforeRemoval);
    const rules = [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }];
    const disrupted = { conditions: [{ type: "DisruptionTarget", status: "True" }] };
    ignored.store(job({}, { podFailurePolicy: { rules } }));
    ignored.store(pod("Failed", { status: disrupted }), CONTROLLER);
    ignored.show(pod("Failed"), { component: CONTROLLER });
    ignored.store(pod("Failed", { status: disrupted, tracked: false }), CONTROLLER);
    decide(ignored);
    expect(ignored.violations).toEqual([]);

    const finished = new History(recordedBeforeRemoval);
    finished.store(job({ conditions: [{ type: "Complete", status: "True" }] }));
    finished.store(pod("Succeeded"), CONTROLLER);
    showEnded(finished);
    finished.store(pod("Succeeded", { tracked: false }), CONTROLLER);
    decide(finished);
    expect(finished.violations).toEqual([]);

    const unseen = new History(recordedBeforeRemoval);
    unseen.store(job());
    unseen.store(pod("Succeeded"), CONTROLLER);
    unseen.show(pod("Running"), { component: CONTROLLER });
    unseen.store(pod("Succeeded", { tracked: false }), CONTROLLER);
    decide(unseen);
    expect(unseen.violations).toEqual([]);
  });

  it("accepts it for a pod that ended during the sync that deletes it", () => {
    const history = new History(recordedBeforeRemoval);
    history.store(job({}, { suspend: true }));
    history.store(pod("Succeeded"), CONTROLLER);
    showEnded(history);
    history.store(pod("Succeeded", { tracked: false }), CONTROLLER);
    decide(history, pod("Running"));
    expect(history.violations).toEqual([]);
  });

  it("accepts it for a pod that was to be ignored when the sync looked", () => {
    const history = new History(recordedBeforeRemoval);
    const rules = [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }];
    const deletionTimestamp = "2026-03-02T10:00:00Z";
    history.store(job({}, { podFailurePolicy: { rules } }));
    history.store(pod("Failed"), CONTROLLER);
    history.show(pod("Failed"), { component: CONTROLLER });
    history.store(pod("Failed", { tracked: false }), CONTROLLER);
    const conditions = [{ type: "DisruptionTarget", status: "True" }];
    decide(history, pod("Running", { metadata: { deletionTimestamp }, status: { conditions } }));
    expect(history.violations).toEqual([]);
  });

  it("accepts a late finalizer removal for a pod that had no owner before this Job adopted it, and for no other", () => {
    for (const [orphaned, count] of [
      [true, 0],
      [false, 1],
    ] as const) {
      const history = new History(recordedBeforeRemoval);
      history.store(job({}, {}, "former"));
      history.store(job());
      if (orphaned) {
        history.store(pod("Running", { of: "former" }), CONTROLLER);
        history.store(pod("Running", { metadata: { ownerReferences: [] } }), "garbage-collector-controller");
      }
      history.store(pod("Succeeded"), CONTROLLER);
      showEnded(history);
      history.store(pod("Succeeded", { tracked: false }), CONTROLLER);
      decide(history);
      expect(history.violations).toHaveLength(count);
    }
  });

  it("accepts what a user does to a pod (X2)", () => {
    const history = new History(recordedBeforeRemoval);
    history.store(job());
    history.store(pod("Succeeded"), CONTROLLER);
    showEnded(history);
    history.store(pod("Succeeded", { tracked: false }), "user");
    decide(history);
    expect(history.violations).toEqual([]);
  });

  it("refuses to count a pod that is still tracked, unless it was orphaned", () => {
    const orphaned = new History(recordedBeforeRemoval);
    orphaned.store(job());
    orphaned.store(pod("Succeeded"), CONTROLLER);
    orphaned.store(job(recorded(["uid-of-a"])), CONTROLLER);
    orphaned.store(pod("Succeeded", { metadata: { ownerReferences: [] } }), "garbage-collector-controller");
    orphaned.store(job({ ...recorded([]), succeeded: 1 }), CONTROLLER);
    expect(orphaned.violations).toEqual([]);

    const history = new History(recordedBeforeRemoval);
    history.store(job());
    history.store(pod("Succeeded"), CONTROLLER);
    history.store(job(recorded(["uid-of-a"])), CONTROLLER);
    history.store(job({ ...recorded([]), succeeded: 1 }), CONTROLLER);
    expect(history.violations).toEqual([
      "Job default/pi: counts Pod default/a, which still has the tracking finalizer",
    ]);
  });
});
