import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { type ClusterOptions, createCluster } from "@kubewright/cluster";

import { applyManifests } from "./apply-manifests.js";
import type { Manifest } from "./manifests.js";
import { Recorder } from "./recorder.js";
import type { TraceRecord } from "./trace.js";

export interface SimulationOptions {
  readonly manifests: readonly Manifest[];
  readonly startMs: number;
  readonly durationMs: number;
  readonly seed: number;
  readonly timeZoneData: string;
  /** Hears every record as it happens; awaited now and then, so that a slow writer holds the simulation back. */
  readonly emit: (record: TraceRecord) => void;
  /** Called between slices of virtual time; may await. */
  readonly onProgress?: (elapsedMs: number) => Promise<void> | void;
  /** Stops the simulation early. */
  readonly signal?: AbortSignal;
  readonly nodes?: ClusterOptions["nodes"];
  /** Deep-freezes everything stored, to find components that write to shared objects. For tests. */
  readonly freeze?: boolean;
}

/**
 * Plays manifests on an embedded cluster in virtual time.
 *
 * Equal options and equal time-zone data give equal records in equal order.
 *
 * @throws UserError when the API server refuses a manifest.
 */
export async function simulate(options: SimulationOptions): Promise<void> {
  const { startMs, durationMs, seed, emit, signal } = options;
  const clock = new SimulatedClock(startMs);
  const recorder = new Recorder({ clock, emit });
  const cluster = createCluster({
    clock,
    random: seededRandom(seed),
    onDecision: (decision) => recorder.decision(decision),
    freeze: options.freeze ?? false,
    ...(options.nodes === undefined ? {} : { nodes: options.nodes }),
  });
  recorder.follow(cluster.informers);
  emit({
    type: "header",
    traceVersion: 1,
    kubernetes: "v1.36",
    seed,
    start: iso(startMs),
    end: iso(startMs + durationMs),
    timeZoneData: options.timeZoneData,
  });

  const stop = new AbortController();
  let failure: { error: unknown } | undefined;
  const running = cluster.run(stop.signal).catch((error: unknown) => (failure = { error }));
  try {
    await drive(clock, cluster.ready(stop.signal));
    await drive(clock, applyManifests(cluster.client("kubewright"), options.manifests));
    for (let elapsedMs = 0; elapsedMs < durationMs && failure === undefined && !signal?.aborted;) {
      const sliceMs = Math.min(SLICE_MS, durationMs - elapsedMs);
      await clock.advance(sliceMs);
      elapsedMs += sliceMs;
      await options.onProgress?.(elapsedMs);
    }
  } finally {
    stop.abort();
    await drive(clock, running);
  }
  if (failure !== undefined) throw failure.error;
  emit({ type: "end", at: iso(clock.now()) });
}

const SLICE_MS = 3_600_000;

/** Awaits work on the cluster while virtual time stands still, moving it only if the work itself waits on a timer. */
async function drive<T>(clock: SimulatedClock, work: Promise<T>): Promise<T> {
  let settled = false;
  const watched = work.finally(() => (settled = true));
  watched.catch(() => {});
  for (await clock.settle(); !settled; await clock.settle()) {
    const waitMs = clock.nextTimerInMs;
    if (waitMs === undefined) break;
    await clock.advance(waitMs);
  }
  return watched;
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
