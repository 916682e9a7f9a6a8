import { expect, test } from "vitest";

import { setCondition } from "./index.js";

const atMs = Date.parse("2026-01-01T00:00:00Z");
const ready = { type: "Ready", status: "True", reason: "AllGood", message: "" } as const;

test("a new condition says when and of which generation it is", () => {
  expect(
    setCondition({ metadata: { generation: 3 } }, { type: "Ready", status: "True", reason: "AllGood" }, atMs),
  ).toEqual([{ ...ready, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 3 }]);
});

test("the time of transition changes with the status only, and other conditions stay where they are", () => {
  const other = {
    type: "Other",
    status: "Unknown",
    reason: "X",
    message: "",
    lastTransitionTime: "2020-01-01T00:00:00Z",
  };
  const before = setCondition({ metadata: { generation: 1 }, status: { conditions: [other] } }, ready, atMs);
  const again = { metadata: { generation: 2 }, status: { conditions: before } };
  const same = setCondition(again, { ...ready, reason: "Still" }, atMs + 60_000);
  expect(same).toEqual([
    other,
    { ...ready, reason: "Still", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 2 },
  ]);
  const changed = setCondition(again, { ...ready, status: "False" }, atMs + 60_000);
  expect(changed[1]).toMatchObject({ status: "False", lastTransitionTime: "2026-01-01T00:01:00Z" });
  expect(again.status.conditions).toBe(before);
});
