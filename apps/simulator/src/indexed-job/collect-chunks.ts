import type { Job, Pod } from "@kubewright/api";
import { type IndexRange, parseIndexes } from "@kubewright/cluster/kubelet";

import { type ChunkSummary, readSummary } from "./chunk-summary.js";
import { FAIL_EXIT, REPLAY_ANNOTATION, SEEDS_ANNOTATION } from "./job-manifest.js";

/** The results of the chunks of one or more campaigns. */
export interface Collected {
  readonly campaigns: readonly CollectedCampaign[];
  /** One entry for each distinct finding over all chunks; those with the highest count come first. */
  readonly findings: readonly CollectedFinding[];
}

export interface CollectedCampaign {
  /** `default/kubewright-fuzz-0123456789` */
  readonly name: string;
  readonly seeds: string;
  readonly chunks: number;
  /** Number of plans or futures of the finished chunks. */
  readonly simulated: number;
  readonly clean: number;
  /** Indexes of chunks with findings. */
  readonly found: readonly number[];
  /** Chunks that failed for another reason on every attempt. */
  readonly broken: readonly { readonly chunk: number; readonly why: string }[];
  /** Chunks with findings whose pods, and therefore findings, are deleted. */
  readonly unknown: readonly number[];
}

export interface CollectedFinding {
  readonly what: string;
  readonly seed: string;
  readonly count: number;
  /** The command that reproduces it. */
  readonly replay: string;
  /** The first chunk with the finding: `default/kubewright-fuzz-0123456789 chunk 7`. */
  readonly at: string;
}

const INDEX = "batch.kubernetes.io/job-completion-index";
const JOB_NAME = "batch.kubernetes.io/job-name";

/** Combines the statuses of the Jobs with the summaries of their pods. */
export function collectChunks(jobs: readonly Job[], pods: readonly Pod[]): Collected {
  const ended = new Map<string, Map<number, Outcome>>();
  for (const pod of pods) {
    const { namespace = "default", annotations, labels } = pod.metadata;
    const outcome = outcomeOf(pod);
    const index = Number(annotations?.[INDEX] ?? labels?.[INDEX]);
    if (outcome === undefined || !Number.isInteger(index)) continue;
    const key = `${namespace}/${labels?.[JOB_NAME]}`;
    const chunks = ended.get(key) ?? new Map<number, Outcome>();
    ended.set(key, chunks);
    // Of several attempts, one with a summary counts.
    if (chunks.get(index)?.summary === undefined) chunks.set(index, outcome);
  }
  const findings = new Map<string, CollectedFinding>();
  const campaigns = jobs.map((job): CollectedCampaign => {
    const { namespace = "default", name = "", annotations = {} } = job.metadata;
    const { completedIndexes = "", failedIndexes = "" } = job.status ?? {};
    const key = `${namespace}/${name}`;
    const outcomes = ended.get(key) ?? new Map<number, Outcome>();
    const completed = indexesOf(completedIndexes);
    const found: number[] = [];
    const broken: { chunk: number; why: string }[] = [];
    const unknown: number[] = [];
    let simulated = 0;
    for (const index of completed) simulated += outcomes.get(index)?.summary?.simulated ?? 0;
    for (const chunk of indexesOf(failedIndexes)) {
      const outcome = outcomes.get(chunk);
      if (outcome !== undefined && outcome.exitCode !== FAIL_EXIT) {
        broken.push({ chunk, why: outcome.why });
        continue;
      }
      found.push(chunk);
      if (outcome?.summary === undefined) unknown.push(chunk);
      simulated += outcome?.summary?.simulated ?? 0;
      for (const { what, seed, count } of outcome?.summary?.findings ?? []) {
        const before = findings.get(what);
        findings.set(what, {
          ...(before ?? {
            what,
            seed,
            replay: `${annotations[REPLAY_ANNOTATION] ?? "# seed"} ${seed}`,
            at: `${key} chunk ${chunk}`,
          }),
          count: (before?.count ?? 0) + count,
        });
      }
    }
    return {
      name: key,
      seeds: annotations[SEEDS_ANNOTATION] ?? "",
      chunks: job.spec?.completions ?? 0,
      simulated,
      clean: completed.length,
      found,
      broken,
      unknown,
    };
  });
  return { campaigns, findings: [...findings.values()].sort((a, b) => b.count - a.count) };
}

interface Outcome {
  readonly exitCode: number;
  readonly summary: ChunkSummary | undefined;
  /** The reason, for an attempt without a summary. */
  readonly why: string;
}

function outcomeOf({ status }: Pod): Outcome | undefined {
  const terminated = status?.containerStatuses?.[0]?.state?.terminated;
  if (terminated === undefined) return undefined;
  const { exitCode, reason, message = "" } = terminated;
  const summary = readSummary(message);
  const lastLine = message.trim().split("\n").at(-1) ?? "";
  return {
    exitCode,
    summary,
    why: `exit status ${exitCode}${reason ? ` (${reason})` : ""}${lastLine === "" ? "" : `: ${lastLine}`}`,
  };
}

function indexesOf(text: string): number[] {
  const ranges: readonly IndexRange[] = parseIndexes(text) ?? [];
  return ranges.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, offset) => first + offset));
}
