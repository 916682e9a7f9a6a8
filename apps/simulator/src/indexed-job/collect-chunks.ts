import type { Job, Pod } from "@kubewright/api";
import { type IndexRange, parseIndexes } from "@kubewright/fake-kubelet";

import { type ChunkSummary, readSummary } from "./chunk-summary.js";
import { FAIL_EXIT, REPLAY_ANNOTATION, SEEDS_ANNOTATION } from "./job-manifest.js";

/** What the chunks of one campaign, or of several, came to. */
export interface Collected {
  readonly campaigns: readonly CollectedCampaign[];
  /** One for each thing that was found, however many chunks have found it; those of the most seeds first. */
  readonly findings: readonly CollectedFinding[];
}

export interface CollectedCampaign {
  /** `default/kubewright-fuzz-0123456789` */
  readonly name: string;
  readonly seeds: string;
  readonly chunks: number;
  /** Of chunks that are done; plans or futures. */
  readonly simulated: number;
  readonly clean: number;
  /** Chunks with findings, by their indexes. */
  readonly found: readonly number[];
  /** Chunks that went wrong in another way, as often as they were tried. */
  readonly broken: readonly { readonly chunk: number; readonly why: string }[];
  /** Chunks with findings whose pods are gone, and with them what they found. */
  readonly unknown: readonly number[];
}

export interface CollectedFinding {
  readonly what: string;
  readonly seed: string;
  readonly count: number;
  /** The command that shows it. */
  readonly replay: string;
  /** Where it was found: `default/kubewright-fuzz-0123456789 chunk 7`, the first. */
  readonly at: string;
}

const INDEX = "batch.kubernetes.io/job-completion-index";
const JOB_NAME = "batch.kubernetes.io/job-name";

/** Puts together what the Jobs say and what their pods left behind. */
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
    // Of several tries the one that has an answer counts.
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
  /** In words, for one that has no answer. */
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
