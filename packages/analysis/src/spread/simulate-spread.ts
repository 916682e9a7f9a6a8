import { RunDigest } from "../digest/run-digest.js";
import { totalOf } from "../digest/run-statistics.js";
import type { CreateOutcome } from "../input/create-manifests.js";
import { liveState } from "../input/live-state.js";
import type { Manifest } from "../input/manifest.js";
import { PodPeaks } from "../futures/pod-peaks.js";
import { EVERYTHING } from "../input/selection.js";
import { simulate } from "../run/simulation.js";
import { Timeline } from "../timeline/timeline.js";
import type { RunInput } from "../input/run-input.js";
import type { SpreadWindow } from "./scheduled-load.js";

/** Results of one simulation. */
export interface SpreadResult {
  readonly runs: number;
  readonly failed: number;
  readonly skipped: number;
  /** Number of runs with a pod that fit on no node at first. */
  readonly withoutNode: number;
  /** Number of Jobs with a pod that a ResourceQuota refused at first. */
  readonly refusedByQuota: number;
  readonly pods: { readonly max: number; readonly atMs: number };
  readonly cpuMillis: number;
  readonly memoryBytes: number;
}

export interface SimulateSpreadOptions {
  readonly window: SpreadWindow;
  readonly timeZoneData: string;
  readonly signal: AbortSignal;
  readonly onProgress: (share: number) => void;
  /** Called with the outcome of the manifests' creation. */
  readonly onCreated: (outcome: CreateOutcome) => void;
}

/** Simulates manifests for a window. Live objects begin at the time of their state. */
export async function simulateSpread(
  input: RunInput,
  manifests: readonly Manifest[],
  { window: { startMs, endMs }, timeZoneData, signal, onProgress, onCreated }: SimulateSpreadOptions,
): Promise<SpreadResult> {
  const live = liveState(manifests);
  const beginMs = live === undefined ? startMs : input.startMs;
  const durationMs = endMs - beginMs;
  const digest = new RunDigest();
  const timeline = new Timeline({ maxRows: 0, maxPods: 0, listener: digest });
  const peaks = new PodPeaks([EVERYTHING]);
  const refused = new Set<string>();
  const { live: _live, ...inputWithoutLive } = input;
  await simulate({
    ...inputWithoutLive,
    ...(live === undefined ? {} : { live }),
    manifests,
    startMs: beginMs,
    durationMs,
    timeZoneData,
    signal,
    emit: (record) => {
      timeline.add(record);
      peaks.add(record);
      if (record.type === "event" && record.reason === "FailedCreate" && record.message.includes(QUOTA_MESSAGE))
        refused.add(`${record.involved.kind} ${record.involved.namespace}/${record.involved.name}`);
    },
    onCreated,
    onProgress: (elapsedMs) => onProgress(elapsedMs / durationMs),
  });
  const statistics = digest.groups.map((group) => group.statistics);
  const sum = (of: (each: (typeof statistics)[number]) => number): number =>
    statistics.reduce((total, each) => total + of(each), 0);
  const { cpuMillis, memoryBytes, selected } = peaks.peaks;
  const peak = selected[0]!;
  return {
    runs: sum(({ runs }) => runs),
    failed: sum(({ failed }) => totalOf(failed)),
    skipped: sum(({ skipped }) => totalOf(skipped)),
    withoutNode: sum(({ withoutNode }) => withoutNode.count),
    refusedByQuota: refused.size,
    pods: { max: peak.level, atMs: peak.atMs },
    cpuMillis,
    memoryBytes,
  };
}

/** @see plugin/pkg/admission/resourcequota/controller.go */
const QUOTA_MESSAGE = "exceeded quota: ";
