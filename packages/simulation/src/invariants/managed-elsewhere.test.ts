import { expect, it } from "vitest";

import { History } from "../../test/history.js";
import { job, pod } from "../../test/objects.js";
import { managedByIsRespected } from "./managed-elsewhere.js";

const CONTROLLER = "job-controller";

function judge(managedBy: string | undefined, by: string): readonly string[] {
  const history = new History(managedByIsRespected);
  const spec = managedBy === undefined ? {} : { managedBy };
  history.store(job({}, spec));
  history.store(pod(), by);
  history.store(job({ active: 1 }, spec), by);
  return history.violations;
}

it("S26 refuses that the Job controller writes of a Job that another controller manages, or makes pods for it", () => {
  expect(judge("example.com/other", CONTROLLER)).toEqual([
    "Job default/pi: gets Pod default/a, and another controller manages it",
    "Job default/pi: is changed, and another controller manages it",
  ]);
});

it("S26 accepts it of its own Jobs, and of their managers", () => {
  expect(judge(undefined, CONTROLLER)).toEqual([]);
  expect(judge("kubernetes.io/job-controller", CONTROLLER)).toEqual([]);
  expect(judge("example.com/other", "other")).toEqual([]);
});
