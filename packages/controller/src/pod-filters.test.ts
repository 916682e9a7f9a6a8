import type { Pod } from "@kubewright/api";
import { expect, test } from "vitest";

import { isPodActive, isPodReady, isPodTerminal, isPodTerminating } from "./pod-filters.js";

const pod = (phase: string | undefined, deleting: boolean): Pod => ({
  metadata: { name: "a", ...(deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}) },
  ...(phase === undefined ? {} : { status: { phase } }),
});

test.each([
  [undefined, false, "active"],
  ["Pending", false, "active"],
  ["Running", false, "active"],
  ["Unknown", false, "active"],
  ["Running", true, "terminating"],
  [undefined, true, "terminating"],
  ["Succeeded", false, "terminal"],
  ["Failed", false, "terminal"],
  ["Failed", true, "terminal"],
])("a pod in phase %s (being deleted: %s) is %s", (phase, deleting, expected) => {
  const subject = pod(phase, deleting);
  const is = { active: isPodActive(subject), terminating: isPodTerminating(subject), terminal: isPodTerminal(subject) };
  expect(Object.entries(is).filter(([, yes]) => yes)).toEqual([[expected, true]]);
});

test("a pod is ready by its Ready condition alone", () => {
  const conditions = (status: string) => ({ status: { phase: "Running", conditions: [{ type: "Ready", status }] } });
  expect(isPodReady({ ...pod("Running", false), ...conditions("True") })).toBe(true);
  expect(isPodReady({ ...pod("Running", false), ...conditions("False") })).toBe(false);
  expect(isPodReady(pod("Running", false))).toBe(false);
});
