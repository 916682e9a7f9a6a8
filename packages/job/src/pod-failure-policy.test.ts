import { type Pod, type PodFailurePolicy, mutableCopy } from "@kubewright/api";
import { expect, test } from "vitest";

import { failed } from "../test/fixtures.js";
import { matchPodFailurePolicy } from "./pod-failure-policy.js";

type Rule = PodFailurePolicy["rules"][number];
const exit = (operator: string, values: number[], rest: Partial<Rule> & { containerName?: string } = {}): Rule => {
  const { containerName, ...rule } = rest;
  return {
    action: "FailJob",
    onExitCodes: { operator, values, ...(containerName !== undefined && { containerName }) },
    ...rule,
  };
};
const match = (rules: Rule[], options: Parameters<typeof failed>[1]) =>
  matchPodFailurePolicy({ rules }, failed("p", options));

test("without a policy, and without a rule that matches, a failure counts", () => {
  expect(matchPodFailurePolicy(undefined, failed("p"))).toEqual({ counts: true });
  expect(match([exit("In", [5])], { exitCode: 6 })).toEqual({ counts: true });
});

test("a FailJob rule says which container failed with which code", () => {
  expect(match([exit("In", [5])], { exitCode: 5 })).toEqual({
    action: "FailJob",
    counts: true,
    message: "Container main for pod ns/p failed with exit code 5 matching FailJob rule at index 0",
  });
});

test("NotIn matches every other code but 0", () => {
  expect(match([exit("NotIn", [1])], { exitCode: 0 }).action).toBeUndefined();
  expect(match([exit("NotIn", [1])], { exitCode: 1 }).action).toBeUndefined();
  expect(match([exit("NotIn", [1])], { exitCode: 2 }).action).toBe("FailJob");
  expect(match([exit("In", [0])], { exitCode: 0 }).action).toBeUndefined();
  expect(match([exit("In", [-1])], { exitCode: -1 }).action).toBe("FailJob");
});

test("what is left out is empty: In matches none of no values, NotIn all of them, and no rules match nothing", () => {
  const without = (operator: string): Rule => ({ action: "FailJob", onExitCodes: { operator } as never });
  expect(match([without("In")], { exitCode: 5 })).toEqual({ counts: true });
  expect(match([without("NotIn")], { exitCode: 5 }).action).toBe("FailJob");
  expect(match([without("NotIn")], { exitCode: 0 })).toEqual({ counts: true });
  expect(match([{ action: "FailJob" }], { exitCode: 5 })).toEqual({ counts: true });
  expect(match([{ action: "FailJob", onPodConditions: [] }], { exitCode: 5 })).toEqual({ counts: true });
  expect(matchPodFailurePolicy({} as PodFailurePolicy, failed("p"))).toEqual({ counts: true });
});

test("a container name restricts a rule, init containers are looked at last, running ones never", () => {
  expect(match([exit("In", [5], { containerName: "other" })], { exitCode: 5 }).action).toBeUndefined();
  const both = mutableCopy(failed("p", { exitCode: 5 })) as Pod;
  both.status!.initContainerStatuses = [{ ...both.status!.containerStatuses![0]!, name: "setup" }];
  const rules = [exit("In", [5])];
  expect(matchPodFailurePolicy({ rules }, both).message).toContain("Container main ");
  both.status!.containerStatuses![0]!.state = { running: {} };
  expect(matchPodFailurePolicy({ rules }, both).message).toContain("Container setup ");
});

test.each([{ running: {} }, { waiting: { reason: "ContainerCreating" } }, undefined])(
  "a container that has not ended matches no rule of exit codes, neither In nor NotIn: %o",
  (state) => {
    const lost = mutableCopy(failed("p", { exitCode: 5 })) as Pod;
    const [container] = lost.status!.containerStatuses!;
    if (state === undefined) delete container!.state;
    else container!.state = state;
    const rules = [exit("NotIn", [0]), exit("NotIn", [1]), exit("In", [5]), exit("In", [0])];
    expect(matchPodFailurePolicy({ rules }, lost)).toEqual({ counts: true });
  },
);

test("a condition matches by type and status, which defaults to True", () => {
  const onType = (status?: string): Rule => ({
    action: "FailJob",
    onPodConditions: [{ type: "DisruptionTarget", ...(status && { status }) }],
  });
  const conditions = [{ type: "DisruptionTarget", status: "True" }];
  expect(match([onType()], { conditions })).toEqual({
    action: "FailJob",
    counts: true,
    message: "Pod ns/p has condition DisruptionTarget matching FailJob rule at index 0",
  });
  expect(match([onType("False")], { conditions }).action).toBeUndefined();
});

test("the first rule that matches and is understood decides", () => {
  const rules = (first: string): Rule[] => [exit("In", [5], { action: first }), exit("In", [5])];
  expect(match(rules("Ignore"), { exitCode: 5 })).toEqual({ action: "Ignore", counts: false });
  expect(match(rules("Count"), { exitCode: 5 })).toEqual({ action: "Count", counts: true });
  expect(match(rules("FailIndex"), { exitCode: 5 })).toEqual({ action: "FailIndex", counts: true });
  expect(match(rules("Later"), { exitCode: 5 }).message).toContain("at index 1");
  expect(match([exit("Around", [5], { action: "Ignore" }), exit("In", [5])], { exitCode: 5 }).message).toContain(
    "at index 1",
  );
});
