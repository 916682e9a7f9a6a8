import {
  type DeepReadonly,
  type Job,
  JOB_TRACKING_FINALIZER,
  type Pod,
  type WatchEvent,
  jobs,
  keyOf,
  pods,
} from "@kubewright/api";
import type { Client } from "@kubewright/client";
import { realClock } from "@kubewright/clock";

import type { Scope } from "./scope.js";

const POLL_MS = 200;
/** Exceeds the duration of every test. */
const WATCH_SECONDS = 7_200;

interface JobCounts {
  readonly completions: number;
  succeeded: number;
  completed: number;
  readonly pods: Set<string>;
}

/**
 * Checks the counts of Jobs whose pods all succeed, from the API server's watch events. It is independent of the
 * controller that runs them.
 */
export class JobAudit {
  readonly #counts = new Map<string, JobCounts>();
  readonly #client: Client;
  /** Violations found in watch events. */
  readonly observedViolations: string[] = [];
  #complete = 0;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** Starts the watches. Must be called before the first Job is created. */
  static async start(scope: Scope, client: Client): Promise<JobAudit> {
    const jobAudit = new JobAudit(client);
    const stop = new AbortController();
    scope.onTestFinished(() => stop.abort());
    const options = { timeoutSeconds: WATCH_SECONDS, signal: stop.signal };
    const [jobEvents, podEvents] = [
      await client.resource(jobs).watch(options),
      await client.resource(pods).watch(options),
    ];
    void read(jobEvents, (job) => jobAudit.#recordJob(job)).catch(() => undefined);
    void read(podEvents, (pod) => jobAudit.#recordPod(pod)).catch(() => undefined);
    return jobAudit;
  }

  async create(name: string, spec: Job["spec"] & { completions: number }, namespace = "default"): Promise<void> {
    this.#counts.set(`${namespace}/${name}`, {
      completions: spec.completions,
      succeeded: 0,
      completed: 0,
      pods: new Set(),
    });
    await this.#client.resource(jobs).create({ metadata: { name, namespace }, spec });
  }

  get complete(): number {
    return this.#complete;
  }

  /** Resolves when `count` Jobs are complete. */
  async waitForComplete(count: number): Promise<void> {
    while (this.#complete < count) await realClock.sleep(POLL_MS);
  }

  /** Returns all violations in counts, pods and finalizers, for the time when all Jobs are complete. */
  async violations(): Promise<string[]> {
    const wrong = [...this.observedViolations];
    const stored = new Map<string, DeepReadonly<Job>>();
    for (const job of (await this.#client.resource(jobs).list()).items) stored.set(keyOf(job), job);
    for (const [name, { completions, completed, pods: seen }] of this.#counts) {
      const { succeeded = 0, failed = 0, active = 0, uncountedTerminatedPods = {} } = stored.get(name)?.status ?? {};
      const uncounted = Object.values(uncountedTerminatedPods).flat().length;
      if (succeeded !== completions || failed !== 0 || active !== 0 || uncounted !== 0)
        wrong.push(
          `${name}: succeeded ${succeeded} of ${completions}, ${failed} failed, ${active} active, ${uncounted} uncounted`,
        );
      if (seen.size !== completions) wrong.push(`${name}: ${seen.size} pods for ${completions} completions`);
      if (completed !== 1) wrong.push(`${name}: became complete ${completed} times`);
    }
    const { items } = await this.#client.resource(pods).list();
    for (const { metadata } of items)
      if (metadata.finalizers?.includes(JOB_TRACKING_FINALIZER)) wrong.push(`pod ${metadata.name} has its finalizer`);
    return wrong;
  }

  #recordPod({ metadata }: DeepReadonly<Pod>): void {
    this.#counts.get(`${metadata.namespace}/${metadata.labels?.["job-name"]}`)?.pods.add(metadata.uid!);
  }

  #recordJob(job: DeepReadonly<Job>): void {
    const { status } = job;
    const name = keyOf(job);
    const counts = this.#counts.get(name);
    if (counts === undefined) return;
    const { succeeded = 0, uncountedTerminatedPods, conditions = [] } = status ?? {};
    if (succeeded < counts.succeeded)
      this.observedViolations.push(`${name}: succeeded fell from ${counts.succeeded} to ${succeeded}`);
    if (succeeded + (uncountedTerminatedPods?.succeeded?.length ?? 0) > counts.completions)
      this.observedViolations.push(`${name}: counted more pods than it has`);
    counts.succeeded = succeeded;
    const isComplete = conditions.some(({ type, status }) => type === "Complete" && status === "True");
    if (isComplete && counts.completed === 0) {
      counts.completed = 1;
      this.#complete++;
    } else if (!isComplete && counts.completed > 0) {
      this.observedViolations.push(`${name}: is no longer complete`);
    }
  }
}

async function read<T>(events: AsyncIterable<WatchEvent<T>>, record: (object: T) => void): Promise<void> {
  for await (const event of events) if (event.type === "ADDED" || event.type === "MODIFIED") record(event.object);
}
