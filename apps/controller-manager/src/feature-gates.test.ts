import { expect, test } from "vitest";
import type { FeatureGate } from "@kubewright/controller";

import { resolveFeatureGates } from "./feature-gates.js";

function enabled(...items: string[]): Readonly<Record<string, boolean>> {
  return Object.fromEntries(resolveFeatureGates(items).enabled);
}

test("without settings every gate has its default", () => {
  expect(enabled()).toMatchObject({
    JobBackoffLimitPerIndex: true,
    JobManagedBy: true,
    StaleControllerConsistencyJob: true,
    WorkloadWithJob: false,
    LoggingAlphaOptions: false,
    CoordinatedLeaderElection: false,
  });
});

test.each([
  [["Foo"], "missing bool value for Foo"],
  [
    ["ComponentFlagz=maybe"],
    'invalid value of ComponentFlagz=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
  ],
  [["Foo=true"], "unrecognized feature gate: Foo"],
  [["constructor=true"], "unrecognized feature gate: constructor"],
  [["JobManagedBy=false"], "cannot set feature gate JobManagedBy to false, feature is locked to true"],
  [
    ["WorkloadWithJob=true"],
    "WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]",
  ],
  [
    ["kube:ComponentFlagz=true", "ComponentStatusz=true"],
    "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use",
  ],
  [["x:ComponentFlagz=true"], "component not registered: x"],
])("%j is refused: %s", (items, message) => {
  expect(() => resolveFeatureGates(items)).toThrow(message);
});

test.each(["1", "t", "T", "TRUE", "true", "True"])("%s switches on", (value) => {
  expect(enabled(` LoggingAlphaOptions = ${value} `).LoggingAlphaOptions).toBe(true);
});

test.each(["0", "f", "F", "FALSE", "false", "False"])("%s switches off", (value) => {
  expect(enabled(`kube:ComponentFlagz=${value}`).ComponentFlagz).toBe(false);
});

test("the last value of a gate wins", () => {
  expect(enabled("ComponentFlagz=false", "ComponentFlagz=true", "NativeHistograms=true")).toMatchObject({
    ComponentFlagz: true,
    NativeHistograms: true,
  });
});

test("AllAlpha and AllBeta set what is not set explicitly, in whatever order", () => {
  const off = enabled("AllBeta=false", "StaleControllerConsistencyJob=true");
  expect(off).toMatchObject({ StaleControllerConsistencyJob: true, ComponentFlagz: false, JobManagedBy: true });
  expect(enabled("StaleControllerConsistencyJob=true", "AllBeta=false")).toEqual(off);
  expect(enabled("AllAlpha=true", "NativeHistograms=false")).toMatchObject({
    WorkloadWithJob: true,
    GenericWorkload: true,
    NativeHistograms: false,
    CoordinatedLeaderElection: false,
  });
});

test("a locked gate may be set to what it is, with a warning", () => {
  expect(resolveFeatureGates(["JobManagedBy=true"]).warnings).toEqual([
    {
      message: "Warning: setting GA feature gate. It will be removed in a future release.",
      featureGate: "JobManagedBy",
      value: true,
    },
  ]);
});

test("a deprecated gate is accepted with a warning", () => {
  const gates: FeatureGate[] = [{ name: "Old", stage: "DEPRECATED", default: false }];
  const { enabled: states, warnings } = resolveFeatureGates(["Old=true"], gates);
  expect(states.get("Old")).toBe(true);
  expect(warnings.map(({ message }) => message)).toEqual([
    "Warning: setting deprecated feature gate. It will be removed in a future release.",
  ]);
});

test("a gate for something that is not here is accepted, and said to have no effect", () => {
  expect(resolveFeatureGates(["CoordinatedLeaderElection=true"]).warnings.map(({ message }) => message)).toEqual([
    "Warning: setting this feature gate has no effect in this binary",
  ]);
});
