import { formatTime } from "@kubewright/api";

import { atOnceOf } from "../at-once.js";
import { formatDuration } from "../duration.js";
import { PodPeaks } from "../futures/pod-peaks.js";
import { NodePools } from "../node-pools.js";
import type { PlayedRun, RunToPlay } from "../played-run.js";
import { ReportRecorder } from "../report/html-report.js";
import { traceHeader } from "../simulation.js";
import { type ScenarioEventRecord, type TraceRecord, traceLine } from "../trace.js";
import { tryOut } from "../try-out.js";
import type { MergedListener } from "./merge-chunks.js";
import { partsInThisThread } from "./part-players.js";
import { playApart } from "./play-apart.js";
import { sharesOf } from "./shares.js";
import { splitByNamespace } from "./split.js";

/** A run of parts; or what the parts share, so that it has to be played in one piece. */
export type RunApart =
  | { readonly played: PlayedRun; readonly shared?: undefined }
  | { readonly shared: string; readonly played?: undefined };

/** Ended pods that PodGC lets be where nobody says otherwise (kube-controller-manager `--terminated-pod-gc-threshold`). */
const USUAL_THRESHOLD = 12_500;

/**
 * Plays the namespaces of a cluster apart, on threads, and merges what they do into one run. It is the same run on any number
 * of threads.
 *
 * @throws UserError when nothing is left to play.
 */
export async function playNamespacesApart({
  input,
  counted,
  outputs,
  io,
  progress,
  workers,
}: RunToPlay & { readonly workers: number }): Promise<RunApart> {
  const { startMs, durationMs, scenario } = input;
  const split = splitByNamespace(input, io.timeZoneData);
  if ("shared" in split) return split;
  const { problems: mistakes, notes } = await tryOut(input, io.timeZoneData);
  const { trace } = outputs;
  const recorder = outputs.report === undefined ? undefined : new ReportRecorder();
  const pods = new PodPeaks(
    counted.selections,
    new NodePools({ manifests: [], nodes: split.parts.flatMap(({ part }) => part.nodes ?? []) }),
  );
  const threshold = scenario?.controllers?.terminatedPodGCThreshold ?? USUAL_THRESHOLD;
  const happenings: ScenarioEventRecord[] = [];
  let nowMs = startMs;
  let ended = 0;
  let touched: string | undefined;
  const touch = (what: string): void => {
    touched ??= `at ${formatTime(nowMs)} ${what}`;
  };
  const record = (each: TraceRecord): void => {
    trace?.add(traceLine(each));
    recorder?.add(each);
  };
  const listener: MergedListener = {
    at(timeMs) {
      nowMs = timeMs;
      pods.at(timeMs);
    },
    trace(lines) {
      trace?.add(lines);
      if (recorder === undefined) return;
      for (const line of lines.split("\n")) if (line !== "") recorder.add(JSON.parse(line) as TraceRecord);
    },
    level(usage, level, by) {
      if (usage.of !== "ended") return pods.change(usage, level, by);
      ended += by;
      if (threshold > 0 && ended > threshold)
        touch(`there are more than ${threshold.toLocaleString("en-US")} ended pods, which PodGC counts together`);
    },
    settled({ group, row }) {
      for (const each of outputs.listeners) each.rowSettled(group, row);
    },
    told(told) {
      if (told.type === "happening") happenings.push(told.record);
      else if (told.type === "problem") notes.push(told.message);
      else touch(told.what);
    },
  };
  pods.at(startMs);
  record(traceHeader({ ...input, timeZoneData: io.timeZoneData }));
  const threads = ((await io.partPlayers?.()) ?? partsInThisThread)(sharesOf(split.parts, workers), {
    ...counted,
    trace: trace !== undefined || recorder !== undefined,
    settled: outputs.listeners.length > 0,
    objects: recorder !== undefined,
  });
  try {
    const result = await playApart({
      players: threads.players,
      durationMs,
      listener,
      signal: io.stopped,
      onProgress: async (elapsedMs) => {
        io.holdMemory?.();
        progress.show(elapsedMs / durationMs, `${formatDuration(elapsedMs)} of ${formatDuration(durationMs)}`);
        await outputs.flush();
      },
      isVoid: () => touched !== undefined,
    });
    if (result === undefined) return { shared: touched! };
    const { outcome, objects, elapsedMs } = result;
    pods.at(startMs + elapsedMs);
    const end = { type: "end", at: new Date(startMs + elapsedMs).toISOString() } as const;
    recorder?.add(end);
    trace?.add(traceLine({ ...end, atOnce: atOnceOf(pods.peaks) }));
    return {
      played: {
        outcome,
        peaks: pods.peaks,
        happenings,
        reachedMs: elapsedMs,
        mistakes,
        notes,
        addedNodes: split.parts.flatMap(({ addedNodes }) => addedNodes),
        ...(recorder === undefined ? {} : { page: recorder.data(scenario?.description, objects) }),
      },
    };
  } finally {
    progress.clear();
    await threads.close();
  }
}
