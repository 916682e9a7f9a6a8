import type { JobSpec, JobStatus, Pod } from "@kubewright/api";
import type { JobDecision } from "@kubewright/job";
import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { job, pod } from "../../test/objects.js";
import { limitsAreEnforced } from "./limit-enforcement.js";

const CONTROLLER = "job-controller";
const indexed = { completionMode: "Indexed", completions: 4, parallelism: 4 } as const;
const perIndex = { ...indexed, backoffLimitPerIndex: 0 } as const;

/** Returns the violations of a sync that has observed those pods and has written that status, if any. */
function judge(
  specs: readonly Partial<JobSpec>[],
  { pods = [], status, end }: { pods?: readonly Pod[]; status?: JobStatus; end?: object },
): readonly string[] {
  const history = new History(limitsAreEnforced);
  const stored = (spec: Partial<JobSpec>, number: number) => {
    const made = job({}, spec);
    return { ...made, metadata: { ...made.metadata, generation: number + 1 } };
  };
  for (const [number, spec] of specs.entries()) history.store(stored(spec, number));
  if (status !== undefined) history.store({ ...stored(specs.at(-1)!, specs.length - 1), status }, CONTROLLER);
  const plan = { observed: { pods }, ...(end === undefined ? {} : { end }) };
  const decision = { key: "default/pi", uid: "uid-of-pi", plan } as unknown as JobDecision;
  history.decide({ controller: CONTROLLER, decision });
  return history.violations;
}

const exited = (phase: string, exitCode: number, restartCount = 0): Pod =>
  pod(phase, {
    status: {
      containerStatuses: [
        { name: "main", image: "", imageID: "", ready: false, restartCount, state: { terminated: { exitCode } } },
      ],
    },
  });
const failJob = { podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }] } };
const onFailure = { template: { spec: { containers: [], restartPolicy: "OnFailure" } } };
const success = (rule: object): Partial<JobSpec> => ({ ...indexed, successPolicy: { rules: [rule] } });

describe("S24 limits are enforced", () => {
  it.each<[string, Partial<JobSpec>, Parameters<typeof judge>[1]]>([
    ["Pod default/a has failed as its policy fails it for", failJob, { pods: [exited("Failed", 42)] }],
    [
      "containers have been started again 2 times, and backoffLimit is 2",
      { ...onFailure, backoffLimit: 2 },
      { pods: [exited("Running", 1, 2)] },
    ],
    [
      "2 pods have failed, and backoffLimit is 1",
      { backoffLimit: 1 },
      { status: { failed: 1, uncountedTerminatedPods: { failed: ["uid-of-a"] } } },
    ],
    [
      "2 indexes have failed, and maxFailedIndexes is 1",
      { ...perIndex, maxFailedIndexes: 1 },
      { status: { failedIndexes: "1,3" } },
    ],
    [
      "all indexes have ended, 1 of them failed",
      perIndex,
      { status: { failedIndexes: "1", completedIndexes: "0,2,3" } },
    ],
    [
      "rule 0 of its success policy is met",
      success({ succeededIndexes: "0-2", succeededCount: 2 }),
      { status: { completedIndexes: "0,2" } },
    ],
    ["rule 0 of its success policy is met", success({ succeededCount: 1 }), { status: { completedIndexes: "3" } }],
  ])("reports an unfinished Job, though %s", (message, spec, seen) => {
    expect(judge([spec], seen)).toEqual([`Job default/pi: is unfinished, though ${message}`]);
    expect(judge([spec], { ...seen, end: { type: "FailureTarget", recorded: false } })).toEqual([]);
  });

  it.each<[string, Partial<JobSpec>, Parameters<typeof judge>[1]]>([
    ["another exit code", failJob, { pods: [exited("Failed", 1)] }],
    ["a pod that has not failed", failJob, { pods: [exited("Running", 42)] }],
    ["fewer restarts", { ...onFailure, backoffLimit: 2 }, { pods: [exited("Running", 1, 1)] }],
    ["no restarts, and none permitted", { ...onFailure, backoffLimit: 0 }, { pods: [exited("Running", 1)] }],
    ["restarts of a pod that has ended", { ...onFailure, backoffLimit: 1 }, { pods: [exited("Succeeded", 0, 3)] }],
    ["as many failures as its limit", { backoffLimit: 1 }, { status: { failed: 1 } }],
    ["no limit but that of each index", perIndex, { status: { failed: 1, failedIndexes: "1" } }],
    ["as many failed indexes as it may have", { ...perIndex, maxFailedIndexes: 1 }, { status: { failedIndexes: "1" } }],
    ["too few successes", success({ succeededIndexes: "0-2" }), { status: { completedIndexes: "0,2,3" } }],
    [
      "a rule about indexes that there are not",
      success({ succeededIndexes: "7" }),
      { status: { completedIndexes: "0" } },
    ],
  ])("accepts %s", (_what, spec, seen) => {
    expect(judge([spec], seen)).toEqual([]);
  });

  it("refuses a Job that succeeds by its policy, though it has failed, unless that is recorded", () => {
    const spec = { ...success({ succeededCount: 1 }), backoffLimit: 0 };
    const succeeding = (failed: number, recorded = false): readonly string[] =>
      judge([spec], { status: { completedIndexes: "3", failed }, end: { type: "SuccessCriteriaMet", recorded } });
    expect(succeeding(1)).toEqual(["Job default/pi: succeeds, though 1 pods have failed, and backoffLimit is 0"]);
    expect([succeeding(0), succeeding(1, true)]).toEqual([[], []]);
  });

  it("accepts a state within the limit of an earlier spec, unless a write shows that the sync saw a later one", () => {
    const specs = [6, 1].map((backoffLimit) => ({ ...onFailure, backoffLimit }));
    const pods = [exited("Running", 1, 2)];
    expect(judge(specs, { pods })).toEqual([]);
    expect(judge(specs, { pods, status: { active: 1 } })).toHaveLength(1);
  });

  it("goes by what this sync has written, and not an earlier one", () => {
    const history = new History(limitsAreEnforced);
    history.store(job({}, { backoffLimit: 0 }));
    history.store(job({ failed: 1 }, { backoffLimit: 0 }), { component: CONTROLLER, process: "another" });
    const plan = { observed: { pods: [] } };
    const decision = { key: "default/pi", uid: "uid-of-pi", plan } as unknown as JobDecision;
    history.decide({ controller: CONTROLLER, decision });
    expect(history.violations).toEqual([]);
  });
});
