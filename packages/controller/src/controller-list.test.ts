import { expect, test } from "vitest";

import {
  canonicalControllers,
  controllerListErrors,
  isControllerEnabled,
  selectControllers,
} from "./controller-list.js";
import { knownControllers } from "./known-controllers.js";

const NAMES = ["job-controller", "cronjob-controller"] as const;

function runs(list: string): string[] {
  return [...selectControllers(NAMES, canonicalControllers(list.split(","))).enabled];
}

test.each([
  ["*", ["job-controller", "cronjob-controller"]],
  ["job", ["job-controller"]],
  ["cronjob,job", ["job-controller", "cronjob-controller"]],
  ["*,-cronjob", ["job-controller"]],
  ["-cronjob-controller,*", ["job-controller"]],
  ["job,-job-controller", ["job-controller"]],
  ["-job-controller,job", []],
  ["-job,-cronjob", []],
  ["podgc", []],
])("--controllers=%s runs %j", (list, expected) => {
  expect(runs(list)).toEqual(expected);
});

test("an empty list runs nothing", () => {
  expect(selectControllers(NAMES, [])).toEqual({
    enabled: [],
    disabled: ["job-controller", "cronjob-controller"],
    missing: [],
  });
});

test("the first mention wins across alias and name, for controllers we do not have as well", () => {
  const items = canonicalControllers(["podgc", "-pod-garbage-collector-controller"]);
  expect(items).toEqual(["pod-garbage-collector-controller", "-pod-garbage-collector-controller"]);
  expect(isControllerEnabled("pod-garbage-collector-controller", items)).toBe(true);
  expect(selectControllers(NAMES, items).missing).toEqual(["pod-garbage-collector-controller"]);
});

test("controllers we do not have are missed only when they are named", () => {
  expect(
    selectControllers(NAMES, canonicalControllers(["*", "bootstrapsigner", "tokencleaner", "-route"])).missing,
  ).toEqual(["bootstrap-signer-controller", "token-cleaner-controller"]);
});

test.each([
  ["-*", ['"*" is not in the list of known controllers']],
  ["*, -job", ['" -job" is not in the list of known controllers']],
  [
    "Job,nope,-gone",
    [
      '"Job" is not in the list of known controllers',
      '"nope" is not in the list of known controllers',
      '"gone" is not in the list of known controllers',
    ],
  ],
  ["*,bootstrapsigner,tokencleaner", []],
])("--controllers=%s is reported as %j", (list, errors) => {
  expect(controllerListErrors(list.split(","))).toEqual(errors);
});

test("no name or alias is claimed twice, and names are well formed", () => {
  const claimed = knownControllers.flatMap(({ name, alias }) => [name, ...(alias === undefined ? [] : [alias])]);
  expect(new Set(claimed).size).toBe(claimed.length);
  for (const { name } of knownControllers) expect(name).toMatch(/^[a-z][a-z-]*-controller$/);
});
