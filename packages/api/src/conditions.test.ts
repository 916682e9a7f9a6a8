import { expect, test } from "vitest";

import { finishedCondition, isJobFinished } from "./conditions.js";

test("a Job's outcome is the first finished condition that is True, in list order", () => {
  const conditions = [
    { type: "FailureTarget", status: "True" },
    { type: "Complete", status: "False" },
    { type: "Failed", status: "True" },
    { type: "Complete", status: "True" },
  ];
  expect(finishedCondition({ status: { conditions } })).toBe(conditions[2]);
  expect(isJobFinished({ status: { conditions } })).toBe(true);
  expect(isJobFinished({ status: { conditions: conditions.slice(0, 2) } })).toBe(false);
  expect(finishedCondition({})).toBeUndefined();
});
