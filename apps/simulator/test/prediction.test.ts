import type { TraceRecord } from "@kubewright/analysis/trace";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";

import { afterAll, beforeAll, expect, test } from "vitest";

import type { LiveStatus } from "../src/serve/live-status.js";
import { kubewright } from "./memory-io.js";
import { ServedProcess } from "./served-process.js";

const DAY_S = 86_400;
const TIMEOUT_MS = 120_000;

interface Workload {
  readonly spec: object;
  readonly jobSpec?: object;
  readonly duration: string;
  readonly exitCode?: string;
}

/** Workloads that are active when the week ends. */
const WORKLOADS: Readonly<Record<string, Workload>> = {
  slow: { spec: { schedule: "*/30 * * * *", concurrencyPolicy: "Forbid" }, duration: "40m" },
  replaced: { spec: { schedule: "0 * * * *", concurrencyPolicy: "Replace" }, duration: "75m" },
  impatient: {
    spec: { schedule: "*/15 * * * *", concurrencyPolicy: "Forbid", startingDeadlineSeconds: 60 },
    duration: "50m",
  },
  failing: { spec: { schedule: "5 * * * *" }, jobSpec: { backoffLimit: 1 }, duration: "4m", exitCode: "3" },
  nightly: { spec: { schedule: "30 2 * * *", timeZone: "Europe/Berlin" }, duration: "90s" },
  paused: { spec: { schedule: "0 * * * *", suspend: true }, duration: "1m" },
};

function cronJob(name: string, { spec, jobSpec, duration, exitCode }: Workload): object {
  const annotations = {
    "sim.kubewright.dev/duration": duration,
    ...(exitCode === undefined ? {} : { "sim.kubewright.dev/exit-code": exitCode }),
  };
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name },
    spec: {
      ...spec,
      jobTemplate: {
        spec: {
          ...jobSpec,
          template: {
            metadata: { annotations },
            spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
          },
        },
      },
    },
  };
}

let served: ServedProcess;
let folder: string;
let kubeconfig: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "kubewright-"));
  kubeconfig = path.join(folder, "config");
  served = await ServedProcess.start(process.execPath, [
    "--controllers=*",
    "--kubelet=simulated",
    "--speed=manual",
    `--kubeconfig=${kubeconfig}`,
  ]);
  for (const [name, workload] of Object.entries(WORKLOADS)) {
    const body = JSON.stringify(cronJob(name, workload));
    const headers = { "content-type": "application/json" };
    const created = await served.send({
      method: "POST",
      path: "/apis/batch/v1/namespaces/default/cronjobs",
      headers,
      body,
    });
    expect(created.status).toBe(201);
  }
  // At ten past the hour most of them are active.
  const hourMs = 3_600_000;
  const nowMs = Date.parse(await advance(0));
  const tenPastMs = Math.ceil(nowMs / hourMs) * hourMs + hourMs / 6;
  await advance(7 * DAY_S + (tenPastMs - nowMs) / 1000);
}, TIMEOUT_MS);
afterAll(async () => {
  await served.stop();
  rmSync(folder, { recursive: true });
});

/** @returns the new time. */
async function advance(seconds: number): Promise<string> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ seconds });
  const { status, text } = await served.send({ method: "POST", path: "/_kubewright/clock/advance", headers, body });
  expect(status).toBe(200);
  return (JSON.parse(text) as { now: string }).now;
}

/** Returns all records of the server since the first request. */
async function recorded(): Promise<TraceRecord[]> {
  const records: TraceRecord[] = [];
  for (let query = ""; ;) {
    const { text } = await served.send({ path: `/_kubewright/trace${query}` });
    const [status, ...lines] = recordsOf(text) as unknown as [LiveStatus, ...TraceRecord[]];
    records.push(...lines);
    // An answer with fewer records ends with the latest record; another request would wait for more.
    if (lines.length < RECORDS_PER_ANSWER) return records;
    query = `?after=${status.first + lines.length}&life=${status.life}`;
  }
}

/** Maximum number of records in one answer. */
const RECORDS_PER_ANSWER = 5_000;

function recordsOf(text: string): TraceRecord[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as TraceRecord);
}

/**
 * Describes the outcome of every slot and run from a time on, in whole seconds: creation, end and deletion of Jobs, and
 * the skip reasons. Earlier slots are omitted, because some were blocked then and are skipped only later.
 */
function slotOutcomes(records: readonly TraceRecord[], fromMs: number): string[] {
  const lines = new Set<string>();
  const second = (at: string): string => `${at.slice(0, 19)}Z`;
  for (const record of records) {
    if (!("at" in record) || Date.parse(record.at) < fromMs) continue;
    if (record.type === "object" && record.kind === "Job") {
      const { at, change, name, state } = record;
      if (change !== "MODIFIED" && !(change === "ADDED" && record.createdAt !== undefined))
        lines.add(`${second(at)} ${change} ${name} for ${state.scheduledFor}`);
      const { outcome } = state;
      if (outcome !== undefined && Date.parse(outcome.at) >= fromMs)
        lines.add(`${second(outcome.at)} ${outcome.type} ${name} ${outcome.reason ?? ""}`);
    } else if (record.type === "decision" && record.controller === "cronjob-controller") {
      const { key, outcome, reason, slotMs, missed } = record.decision;
      const skip = (slot: number, why: string): void => {
        if (slot >= fromMs) lines.add(`${second(new Date(slot).toISOString())} skipped ${key} ${why}`);
      };
      if (outcome === "skipped" && slotMs !== undefined) skip(slotMs, reason);
      for (const each of missed) for (const slot of each.slotsMs) skip(slot, each.reason);
    }
  }
  return [...lines].sort();
}

function missedSlots(records: readonly TraceRecord[]): number[] {
  return records.flatMap((record) =>
    record.type === "decision" && record.controller === "cronjob-controller"
      ? record.decision.missed.flatMap(({ slotsMs }) => slotsMs)
      : [],
  );
}

test(
  "the predicted next day of a cluster with a week of history, and with learned workloads, is what then happens",
  { timeout: TIMEOUT_MS },
  async () => {
    await recorded();
    const now = await advance(0);
    const fromMs = Date.parse(now);
    const cluster = ["--from-cluster", "--kubeconfig", kubeconfig];
    const predict = async (...flags: string[]): Promise<string[]> => {
      const { code, stderr, stdout } = await kubewright(["run", ...cluster, "--for", "1d", "--json", "-", ...flags], {
        readFile: async (name) => readFileSync(name, "utf8"),
      });
      expect([code, stderr]).toEqual([0, ""]);
      const records = recordsOf(stdout);
      expect(missedSlots(records).filter((slotMs) => slotMs < fromMs)).toEqual([]);
      return slotOutcomes(records, fromMs);
    };
    const learned = await kubewright(["learn", ...cluster, "-o", "workloads.yaml"]);
    expect([learned.code, learned.stderr]).toEqual([0, ""]);
    const workloads = path.join(folder, "workloads.yaml");
    writeFileSync(workloads, learned.written["workloads.yaml"]!);
    const predicted = await predict();
    const predictedAsLearned = await predict("--workloads", workloads);

    await advance(DAY_S);
    const happened = slotOutcomes(await recorded(), fromMs);

    expect(predicted).toEqual(happened);
    expect(predictedAsLearned).toEqual(happened);
    for (const [what, min] of [
      [/ ADDED slow-/, 24],
      [/ DELETED replaced-/, 23],
      [/ Failed failing-.* BackoffLimitExceeded/, 24],
      [/ Complete impatient-/, 20],
      [/ skipped default\/impatient /, 40],
    ] as const)
      expect(happened.filter((line) => what.test(line)).length, String(what)).toBeGreaterThanOrEqual(min);
    expect(happened.filter((line) => line.includes(" ADDED nightly-"))).toHaveLength(1);
    expect(happened.filter((line) => line.includes("ADDED paused-"))).toEqual([]);
  },
);
