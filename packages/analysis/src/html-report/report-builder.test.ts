import { expect, test } from "vitest";

import type { TraceRecord } from "../run/trace.js";
import { ReportBuilder } from "./report-builder.js";

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();
const header: TraceRecord = {
  type: "header",
  traceVersion: 1,
  kubernetes: "v1.36",
  seed: 3,
  start: at(0),
  end: at(3_600),
  timeZoneData: "test",
};
const pod = (seconds: number, change: "ADDED" | "MODIFIED" | "DELETED", phase: string, node?: string): TraceRecord => ({
  type: "object",
  at: at(seconds),
  change,
  kind: "Pod",
  namespace: "default",
  name: "p",
  uid: "u",
  state: { phase, ...(node === undefined ? {} : { node }) },
  ...(change === "ADDED" ? { cpuMillis: 250 } : {}),
});
const event = (seconds: number, eventType: string): TraceRecord => ({
  type: "event",
  at: at(seconds),
  eventType,
  reason: "R",
  message: "m",
  count: 1,
  involved: { kind: "Job", namespace: "default", name: "j" },
});

test("a pod waits, runs with its requested CPU, and is no longer counted when it has ended", () => {
  const builder = new ReportBuilder();
  for (const record of [
    header,
    pod(0, "ADDED", "Pending"),
    pod(10, "MODIFIED", "Pending", "node-1"),
    pod(20, "MODIFIED", "Running", "node-1"),
    pod(50, "MODIFIED", "Succeeded", "node-1"),
    pod(60, "DELETED", "Succeeded", "node-1"),
  ])
    builder.add(record);
  const { concurrency, seed, startMs, endMs } = builder.data();
  expect({ seed, lengthMs: endMs - startMs }).toEqual({ seed: 3, lengthMs: 60_000 });
  const steps = concurrency.atMs.map((atMs, index) => [
    (atMs - startMs) / 1_000,
    concurrency.waiting.last[index],
    concurrency.running.last[index],
    concurrency.cpuMillis.last[index],
  ]);
  expect(steps).toEqual([
    [0, 1, 0, 0],
    [10, 1, 0, 250],
    [20, 0, 1, 250],
    [50, 0, 0, 0],
  ]);
});

test("repeated decisions are stored once; decisions without an effect are not stored", () => {
  const builder = new ReportBuilder();
  const job = (seconds: number, reason: string): TraceRecord => ({
    type: "decision",
    at: at(seconds),
    controller: "job-controller",
    decision: { key: "default/j" as never, uid: "u", action: "tracking", statusWrites: 0, reasons: [reason] },
  });
  const cronJob = (outcome: "notDue" | "ran"): TraceRecord => ({
    type: "decision",
    at: at(9),
    controller: "cronjob-controller",
    decision: { key: "default/c" as never, atMs: 9, outcome, reason: "due", message: outcome, missed: [] },
  });
  for (const record of [header, job(1, "a"), job(2, "a"), job(3, "b"), job(4, "a"), cronJob("notDue"), cronJob("ran")])
    builder.add(record);
  expect(builder.data().decisions.map(({ outcome, reasons }) => `${outcome} ${reasons.join()}`)).toEqual([
    "tracking a",
    "tracking b",
    "tracking a",
    "ran ran",
  ]);
});

test("normal events beyond the limit are dropped and counted; warnings have a separate limit", () => {
  const builder = new ReportBuilder();
  for (let index = 0; index < 20_010; index++) builder.add(event(index, "Normal"));
  builder.add(event(30_000, "Warning"));
  const { events, dropped } = builder.data();
  expect(dropped.events).toBe(10);
  expect(events).toHaveLength(20_001);
  expect(events.at(-1)!.warning).toBe(true);
});
