import type { DeepReadonly, Pod } from "@kubewright/api";

import { type DurationRange, parseDurationRange } from "./duration.js";
import { type ExitCodes, parseExitCode, parseExitCodes } from "./exit-codes.js";
import { type IndexRange, parseIndexes } from "./index-ranges.js";
import { type WorkloadRule, parseRules } from "./workload-rules.js";

/** Prefix of the annotations that define the behaviour of a simulated pod. */
export const WORKLOAD_ANNOTATION_PREFIX = "sim.kubewright.dev/";

/** The behaviour of a pod's containers in each run. */
export interface Workload {
  /** Duration of a run. */
  readonly duration: DurationRange;
  /** Time to pull the image and start the containers. */
  readonly startupDelay: DurationRange;
  /** Exit code of a run that does not fail. */
  readonly exitCode: ExitCodes;
  /** Probability that a run fails. */
  readonly failureRate: number;
  readonly failureExitCode: number;
  /** Pods of these completion indexes always fail. */
  readonly failingIndexes: readonly IndexRange[];
  /** Whether containers run until the grace period ends. */
  readonly ignoreSigterm: boolean;
  /** Overrides for containers, indexes or attempts; of the matching rules the last wins. Default: none. */
  readonly rules?: readonly WorkloadRule[];
}

const DEFAULT_WORKLOAD: Workload = {
  duration: { fromMs: 10_000, toMs: 10_000 },
  startupDelay: { fromMs: 1000, toMs: 1000 },
  exitCode: 0,
  failureRate: 0,
  failureExitCode: 1,
  failingIndexes: [],
  ignoreSigterm: false,
};

interface Annotation<Key extends keyof Workload> {
  readonly key: Key;
  /** @returns `undefined` for an invalid value. */
  readonly parse: (text: string) => NonNullable<Workload[Key]> | undefined;
  /** Describes valid values. */
  readonly fix: string;
  readonly byDefault: string;
}

function annotation<Key extends keyof Workload>(definition: Annotation<Key>): Annotation<keyof Workload> {
  return definition;
}

const DURATION_FIX =
  "a duration such as 30s, 5m, 1h30m or 250ms, a range such as 20m..70m, or a distribution such as normal(10m, 2m)";
const EXIT_CODE_FIX = "a whole number from 0 to 255, or several with their shares such as 0=0.9,1=0.1";

const ANNOTATIONS: ReadonlyMap<string, Annotation<keyof Workload>> = new Map([
  ["duration", annotation({ key: "duration", parse: parseDurationRange, fix: DURATION_FIX, byDefault: "10s" })],
  ["startup-delay", annotation({ key: "startupDelay", parse: parseDurationRange, fix: DURATION_FIX, byDefault: "1s" })],
  ["exit-code", annotation({ key: "exitCode", parse: parseExitCodes, fix: EXIT_CODE_FIX, byDefault: "0" })],
  [
    "failure-rate",
    annotation({ key: "failureRate", parse: parseRate, fix: "a number from 0 to 1 such as 0.2", byDefault: "0" }),
  ],
  [
    "failure-exit-code",
    annotation({ key: "failureExitCode", parse: parseFailure, fix: "a whole number from 1 to 255", byDefault: "1" }),
  ],
  [
    "failing-indexes",
    annotation({ key: "failingIndexes", parse: parseIndexes, fix: "indexes such as 1,3-5", byDefault: "no index" }),
  ],
  [
    "ignore-sigterm",
    annotation({ key: "ignoreSigterm", parse: parseBoolean, fix: '"true" or "false"', byDefault: "false" }),
  ],
  [
    "rules",
    annotation({
      key: "rules",
      parse: parseRules,
      fix: 'a JSON list such as [{"attempts": "1-2", "exitCode": "1"}], as a scenario file\'s workloads are turned into',
      byDefault: "no rules",
    }),
  ],
]);

/** The parsed annotations of a pod. */
export interface ParsedWorkload {
  readonly workload: Workload;
  /** One sentence for each invalid annotation, which has its default value instead. */
  readonly problems: readonly string[];
}

/** Maximum number of cached entries; the oldest is removed first. */
const MAX_ENTRIES = 1000;

/** Caches parsed annotations, because most pods are created from a template with equal annotations. */
export class WorkloadCache {
  readonly #entries = new Map<string, ParsedWorkload>();

  of(pod: DeepReadonly<Pod>): ParsedWorkload {
    const annotations = pod.metadata.annotations;
    let text = "";
    for (const name in annotations)
      if (name.startsWith(WORKLOAD_ANNOTATION_PREFIX)) text += `${name}=${annotations[name]}\0`;
    let entry = this.#entries.get(text);
    if (entry === undefined) {
      entry = workloadOf(pod);
      this.#entries.set(text, entry);
      if (this.#entries.size > MAX_ENTRIES) this.#entries.delete(this.#entries.keys().next().value!);
    }
    return entry;
  }
}

/** Parses the annotations of a pod. */
export function workloadOf(pod: DeepReadonly<Pod>): ParsedWorkload {
  const annotations = pod.metadata.annotations;
  let workload = DEFAULT_WORKLOAD;
  const problems: string[] = [];
  for (const name in annotations) {
    if (!name.startsWith(WORKLOAD_ANNOTATION_PREFIX)) continue;
    const known = ANNOTATIONS.get(name.slice(WORKLOAD_ANNOTATION_PREFIX.length));
    if (known === undefined) {
      problems.push(
        `annotation ${name} is unknown and has no effect; known annotations are ${[...ANNOTATIONS.keys()].join(", ")}`,
      );
      continue;
    }
    const text = annotations[name] ?? "";
    const value = known.parse(text.trim());
    if (value !== undefined) workload = { ...workload, [known.key]: value };
    else
      problems.push(
        `annotation ${name} is ${JSON.stringify(text)}: write ${known.fix}; the default, ${known.byDefault}, is used`,
      );
  }
  return { workload, problems };
}

function parseFailure(text: string): number | undefined {
  const code = parseExitCode(text);
  return code === 0 ? undefined : code;
}

function parseRate(text: string): number | undefined {
  const rate = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  return rate <= 1 ? rate : undefined;
}

function parseBoolean(text: string): boolean | undefined {
  return text === "true" ? true : text === "false" ? false : undefined;
}
