import { UserError } from "../errors/user-error.js";
import { type Observation, type Subject, subjectNamed } from "./observation.js";

/** The kube-state-metrics samples of the Jobs of one name over the requested time. Epoch milliseconds. */
interface JobSeries {
  readonly starts: Set<number>;
  readonly completions: Set<number>;
  /** When the failure was first sampled. */
  failedMs?: number;
  cronJob?: string;
}

/** An answer of Prometheus' HTTP API, with its file name. */
export interface MetricsAnswer {
  readonly file: string;
  /** Answer of `/api/v1/query_range` or `/api/v1/query`. */
  readonly text: string;
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values?: unknown;
  readonly value?: unknown;
}

/**
 * Returns the runs in Prometheus answers to queries of kube-state-metrics' `kube_job_*`. Series of other metrics are
 * ignored.
 *
 * @throws UserError with one line when a file is no such answer.
 */
export function observeMetrics(answers: readonly MetricsAnswer[]): Observation[] {
  const jobs = new Map<string, JobSeries>();
  for (const answer of answers) for (const series of readAnswer(answer)) addSeries(jobs, series);
  return [...jobs].flatMap(([key, series]) => {
    const [namespace, job] = key.split("/") as [string, string];
    return observationsOf(namespace, job, series);
  });
}

function readAnswer({ file, text }: MetricsAnswer): readonly Series[] {
  const refuse = (message: string, cause?: unknown): never => {
    throw new UserError(`--prometheus: ${file}: ${message}`, { cause });
  };
  let answer: { status?: unknown; error?: unknown; data?: { result?: unknown } } | null;
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch (error) {
    return refuse("not JSON; save the answer of /api/v1/query_range there", error);
  }
  if (answer?.status === "error") return refuse(`Prometheus refused the query: ${String(answer.error)}`);
  const result = answer?.data?.result;
  if (!Array.isArray(result)) return refuse("data.result is missing; save the answer of /api/v1/query_range there");
  const nameless = (result as (Series | null)[]).findIndex(
    (series) => typeof series?.metric?.["__name__"] !== "string",
  );
  if (nameless >= 0) return refuse(`data.result[${nameless}] does not say of which metric; query the metric itself`);
  return result as Series[];
}

function addSeries(jobs: Map<string, JobSeries>, series: Series): void {
  const { __name__: name, job_name: job, owner_kind: ownerKind, owner_name: owner, ...others } = series.metric;
  // Prometheus renames labels that collide with its own.
  const namespace = others["exported_namespace"] ?? others["namespace"];
  if (!name!.startsWith("kube_job_") || !job || !namespace) return;
  const key = `${namespace}/${job}`;
  const known: JobSeries = jobs.get(key) ?? { starts: new Set(), completions: new Set() };
  jobs.set(key, known);
  switch (name) {
    case "kube_job_status_start_time":
      for (const { amount } of samplesOf(series)) known.starts.add(amount * 1000);
      break;
    case "kube_job_status_completion_time":
      for (const { amount } of samplesOf(series)) known.completions.add(amount * 1000);
      break;
    case "kube_job_status_failed":
      for (const { timeMs } of samplesOf(series)) known.failedMs = Math.min(timeMs, known.failedMs ?? Infinity);
      break;
    case "kube_job_owner":
      if (ownerKind === "CronJob" && owner) known.cronJob = owner;
      break;
    default:
  }
}

/** The last second that a Date can represent. */
const LAST_SECOND = 8.64e12;

/** Returns the samples above zero, with their times. */
function samplesOf({ values, value }: Series): { readonly timeMs: number; readonly amount: number }[] {
  const samples: readonly unknown[] = Array.isArray(values) ? values : [value];
  return samples
    .filter((sample) => Array.isArray(sample))
    .map(([seconds, text]: unknown[]) => ({ timeMs: Number(seconds) * 1000, amount: Number(text) }))
    .filter(({ timeMs, amount }) => amount > 0 && amount <= LAST_SECOND && timeMs <= LAST_SECOND * 1000);
}

function observationsOf(namespace: string, job: string, { starts, completions, ...rest }: JobSeries): Observation[] {
  const subject: Subject =
    rest.cronJob === undefined ? subjectNamed(namespace, job) : { kind: "CronJob", namespace, name: rest.cronJob };
  const seen = { subject, job };
  const inOrder = [...starts].sort((a, b) => a - b);
  const completed = [...completions].map((endMs): Observation => {
    // A Job that is resumed or created again with the same name has a new start time.
    const startMs = inOrder.findLast((time) => time <= endMs);
    return { ...seen, exitCode: 0, endMs, ...(startMs === undefined ? {} : { durationMs: endMs - startMs }) };
  });
  return rest.failedMs === undefined ? completed : [...completed, { ...seen, exitCode: 1, endMs: rest.failedMs }];
}
