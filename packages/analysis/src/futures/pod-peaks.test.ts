import { expect, test } from "vitest";

import { EVERYTHING } from "../input/selection.js";
import { PodPeaks } from "./pod-peaks.js";

test("the selection of everything also works in another thread: a pod without a Job counts", () => {
  const peaks = new PodPeaks([structuredClone(EVERYTHING)]);
  peaks.add({
    type: "header",
    traceVersion: 1,
    kubernetes: "v1.36.0",
    seed: 1,
    start: "2026-01-01T00:00:00.000Z",
    end: "2026-01-02T00:00:00.000Z",
    timeZoneData: "test",
  });
  peaks.add({
    type: "object",
    at: "2026-01-01T00:00:01.000Z",
    change: "ADDED",
    kind: "Pod",
    namespace: "default",
    name: "lone",
    uid: "1",
    state: { phase: "Pending" },
  });
  expect(peaks.peaks.selected).toEqual([{ level: 1, atMs: Date.parse("2026-01-01T00:00:01Z") }]);
});
