import { expect, test } from "vitest";

import { Recorder } from "./recorder.js";
import type { TraceRecord } from "./trace.js";

test.each([0, 0.75, 7, 42.5, 100, 999.999])("a record has its time as toISOString formats it: %f ms", (ms) => {
  const records: TraceRecord[] = [];
  const timeMs = Date.parse("2026-02-28T23:59:59Z") + ms;
  const recorder = new Recorder({ clock: { now: () => timeMs }, emit: (record) => void records.push(record) });
  recorder.decision({
    controller: "ttl-after-finished-controller",
    decision: { atMs: timeMs, key: "default/a" } as never,
  });
  expect(records).toMatchObject([{ type: "decision", at: new Date(timeMs).toISOString() }]);
});
