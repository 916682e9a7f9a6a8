import { isLive } from "../input/live-state.js";
import type { Manifest } from "../input/manifest.js";
import { removedVersionText } from "../input/removed-versions.js";
import { type Place, parsePlace } from "../output-formats/check-report.js";
import type { WorkloadEntry } from "@kubewright/simulation";
import { hasDuration, withWorkloads } from "@kubewright/simulation";
import { LintContext } from "./lint-context.js";
import type { Level, LintRemark, LintRule, Proof } from "./lint-rule.js";
import { lintRules } from "./lint-rules.js";
import { goDuration, proofCommand } from "./proof-command.js";
import { overQuota, quotaRemark } from "./rules/quotas.js";
import { refusals, removedVersion } from "./rules/refusals.js";
import { type Subject, subjectsOf } from "./subject.js";

/** A finding of a rule, with its place. */
export interface Finding {
  readonly rule: LintRule;
  readonly level: Level;
  readonly text: string;
  /** `CronJob billing/report` */
  readonly object: string;
  readonly place?: Place;
  /** Where its object begins. */
  readonly begins?: Place;
  readonly proof?: RunnableProof;
}

export interface RunnableProof {
  /** The command that shows the finding. */
  readonly command: string;
  /** Text in the output of the command. */
  readonly shows: string;
}

export interface LintOptions {
  /** Schedules and clock changes are checked from this time on. Epoch milliseconds. */
  readonly fromMs: number;
  readonly timeZoneData: string;
  /** Durations of containers, in addition to their annotations. */
  readonly workloads: readonly WorkloadEntry[];
  /** Stops before the next CronJob or Job. */
  readonly signal: AbortSignal;
}

/** Checks CronJobs and Jobs without random outcomes. Findings have the order of the manifests. */
export async function lintManifests(
  given: readonly Manifest[],
  { fromMs, timeZoneData, workloads, signal }: LintOptions,
): Promise<{ readonly findings: readonly Finding[]; readonly subjects: readonly Subject[] }> {
  const manifests = withWorkloads(given, workloads);
  const subjects = subjectsOf(manifests);
  const context = new LintContext(fromMs);
  const annotated = new Set(given.filter(({ object }) => hasDuration(object)).map(({ source }) => source));
  const refused = (await refusals(manifests, { fromMs, timeZoneData })).map(
    ({ rule, place, subject, text }): Finding => {
      const at = parsePlace(place);
      const refusedSubject = subjects.find((each) => writtenName(each) === subject);
      const object = refusedSubject === undefined ? subject : nameOf(refusedSubject);
      return {
        rule,
        level: rule.level,
        text,
        object,
        ...beginOf(refusedSubject),
        ...(at === undefined ? {} : { place: at }),
      };
    },
  );
  const broken = new Set(refused.map(({ place }) => place?.file));
  const found: Finding[] = [...refused, ...manifests.flatMap(removedVersionFindings)];
  for (const subject of subjects) {
    if (signal.aborted) break;
    const { manifest } = subject;
    // Refused or suspended objects cannot be simulated, and objects of a cluster are not new when a window begins.
    const isSimulatable =
      !broken.has(parsePlace(manifest.source)?.file) && !isSuspended(subject) && !isLive(manifest.object);
    const add = (rule: LintRule, { text, path, level = rule.level, proof }: LintRemark): void => {
      const place = parsePlace(manifest.place(path));
      found.push({
        rule,
        level,
        text,
        object: nameOf(subject),
        ...beginOf(subject),
        ...(place === undefined ? {} : { place }),
        ...(proof === undefined || !isSimulatable
          ? {}
          : { proof: runnableProof(proof, subject, { isAnnotated: annotated.has(manifest.source) }) }),
      });
    };
    for (const rule of lintRules) for (const remark of rule.check?.(subject, context) ?? []) add(rule, remark);
    const remark = isSimulatable ? await quotaRemark(subject, { manifests, context, timeZoneData }) : undefined;
    if (remark !== undefined) add(overQuota, remark);
  }
  return { findings: inOrder(found), subjects };
}

/** Simulations use the stable version, so such an object is not broken. */
function removedVersionFindings({ object, place, source, removedVersion: removed }: Manifest): Finding[] {
  if (removed === undefined) return [];
  const { namespace = "default", name } = object.metadata;
  const [at, begins] = [parsePlace(place(["apiVersion"])), parsePlace(source)];
  return [
    {
      rule: removedVersion,
      level: removedVersion.level,
      text: removedVersionText(removed),
      object: `${object.kind} ${namespace}/${name}`,
      ...(at === undefined ? {} : { place: at }),
      ...(begins === undefined ? {} : { begins }),
    },
  ];
}

function runnableProof(
  proof: Proof,
  { namespace, name, runs, manifest }: Subject,
  { isAnnotated }: { readonly isAnnotated: boolean },
): RunnableProof {
  const { flags = [] } = proof;
  // A duration from outside the file must be on the command line.
  const length =
    isAnnotated || runs === undefined || flags.includes("--duration")
      ? []
      : ["--duration", `${namespace}/${name}=${goDuration(runs.minMs)}`];
  const source = /^(.*?):\d+(?::\d+)?$/.exec(manifest.source)?.[1] ?? manifest.source;
  return { command: proofCommand({ ...proof, flags: [...length, ...flags] }, source), shows: proof.shows };
}

function isSuspended({ cronJob, job }: Subject): boolean {
  return cronJob?.suspend === true || job.suspend === true;
}

function nameOf({ kind, namespace, name }: Subject): string {
  return `${kind} ${namespace}/${name}`;
}

/** Returns the name in refusals of the API server: the namespace only if the manifest has one. */
function writtenName({ kind, name, manifest }: Subject): string {
  const { namespace } = manifest.object.metadata;
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

function beginOf(subject: Subject | undefined): { readonly begins?: Place } {
  const begins = subject === undefined ? undefined : parsePlace(subject.manifest.source);
  return begins === undefined ? {} : { begins };
}

/** Sorts findings by file, in the order of reading, and by line. */
function inOrder(findings: readonly Finding[]): Finding[] {
  const files = [...new Set(findings.map(({ place }) => place?.file))];
  const rank = new Map(files.map((file, index) => [file, index]));
  const key = ({ place }: Finding): readonly number[] => [
    rank.get(place?.file) ?? 0,
    place?.line ?? 0,
    place?.column ?? 0,
  ];
  return [...findings].sort((a, b) => {
    const [left, right] = [key(a), key(b)];
    const differs = left.findIndex((each, index) => each !== right[index]);
    return differs < 0 ? 0 : left[differs]! - right[differs]!;
  });
}
