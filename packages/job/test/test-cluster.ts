import {
  type Job,
  type JobSpec,
  type ObjectMeta,
  type Pod,
  type PodCondition,
  formatTime,
  jobs,
  pods,
  events,
} from "@kubewright/api";
import type { InformerFactoryOptions } from "@kubewright/informer";
import type { ApiRequest, ApiResponse } from "@kubewright/transport";

import { ControllerHarness, refused } from "../../controller/test/controller-harness.js";
import { JobController } from "../src/job-controller.js";
import type { JobObject, PodObject } from "../src/job-spec.js";
import type { JobDecision } from "../src/job-decision.js";
import { CountedMetrics } from "./counted-metrics.js";
import { T0 } from "./fixtures.js";
import { type Script, ScriptedKubelet } from "./scripted-kubelet.js";

const NAMESPACE = "default";

export interface TestClusterOptions {
  /** Default 1000, as upstream, so that tests know when a sync is due. */
  readonly syncBatchPeriodMs?: number | "adaptive";
  /** Whether the server freezes the objects it returns. Default true. */
  readonly freeze?: boolean;
  /** Transforms the objects in the controller's caches. */
  readonly transform?: InformerFactoryOptions["transform"];
}

interface Helper {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

/** A Job controller whose writes are recorded. The test acts as user and kubelet. */
export class TestCluster extends ControllerHarness {
  readonly decisions: JobDecision[] = [];
  readonly metrics = new CountedMetrics();
  readonly #failures: unknown[] = [];
  readonly #helpers: Helper[] = [];
  readonly #syncBatchPeriodMs: number | undefined;
  readonly #transform: TestClusterOptions["transform"];

  constructor({ syncBatchPeriodMs = 1_000, freeze = true, transform }: TestClusterOptions = {}) {
    super({ start: T0, freeze });
    this.#transform = transform;
    this.#syncBatchPeriodMs = syncBatchPeriodMs === "adaptive" ? undefined : syncBatchPeriodMs;
  }

  static async start(options?: TestClusterOptions): Promise<TestCluster> {
    const cluster = new TestCluster(options);
    await cluster.startController();
    return cluster;
  }

  startController(): Promise<void> {
    return this.runController(
      (deps) =>
        new JobController({
          ...deps,
          events: undefined,
          metrics: this.metrics,
          ...(this.#syncBatchPeriodMs !== undefined && { syncBatchPeriodMs: this.#syncBatchPeriodMs }),
          onDecision: (decision) => this.decisions.push(decision),
        }),
      { transform: this.#transform, onError: (error) => this.#failures.push(error) },
    );
  }

  /** Simulates the kubelet by a script until the cluster is closed, also while the controller is stopped. */
  async runKubelet(script: Script): Promise<void> {
    const stop = new AbortController();
    const kubelet = new ScriptedKubelet({ client: this.admin, clock: this.clock, script });
    this.#helpers.push({ stop, ended: kubelet.run(stop.signal) });
    await this.advance(0);
  }

  async close(): Promise<void> {
    await this.stop();
    for (const { stop, ended } of this.#helpers) {
      stop.abort(new Error("stopped"));
      await ended;
    }
    await this.server.close();
    if (this.#failures.length > 0) throw new Error("an informer failed", { cause: this.#failures[0] });
  }

  protected override describe(request: ApiRequest): string | undefined {
    return request.method === "GET" ? undefined : super.describe(request);
  }

  async createJob(spec: Partial<JobSpec> = {}, metadata: ObjectMeta = {}): Promise<JobObject> {
    // The API server's generated selector contains the random UID of the Job; this selector makes tests more readable.
    const labels = { who: "job" };
    const manual = spec.manualSelector ?? true;
    const job: Job = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "job", namespace: NAMESPACE, ...metadata },
      spec: {
        parallelism: 1,
        ...(spec.completions === undefined && spec.parallelism === undefined && { completions: 1 }),
        backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1,
        completionMode: "NonIndexed",
        suspend: false,
        podReplacementPolicy: spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed",
        ...(manual && { manualSelector: true, selector: { matchLabels: labels } }),
        template: {
          ...(manual && { metadata: { labels } }),
          spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1" }] },
        },
        ...spec,
      },
    };
    const created = await this.admin.resource(jobs).create(job);
    await this.advance(0);
    return created;
  }

  async patchJob(patch: object): Promise<void> {
    await this.admin.resource(jobs).patch("job", { type: "merge", body: patch }, { namespace: NAMESPACE });
    await this.advance(0);
  }

  async deleteJob(propagationPolicy: "Background" | "Foreground" | "Orphan" = "Background"): Promise<void> {
    await this.admin.resource(jobs).delete("job", { namespace: NAMESPACE, propagationPolicy });
    await this.advance(0);
  }

  job(): Promise<JobObject> {
    return this.admin.resource(jobs).get("job", { namespace: NAMESPACE });
  }

  async status(): Promise<NonNullable<JobObject["status"]>> {
    return (await this.job()).status ?? {};
  }

  /** Returns the pods in order of creation, then of index. */
  async pods(): Promise<readonly PodObject[]> {
    const { items } = await this.admin.resource(pods).list({ namespace: NAMESPACE });
    const index = ({ metadata }: PodObject): number =>
      Number(metadata.annotations?.["batch.kubernetes.io/job-completion-index"] ?? -1);
    const created = ({ metadata }: PodObject): string => metadata.creationTimestamp ?? "";
    return [...items].sort(
      (a, b) =>
        created(a).localeCompare(created(b)) || index(a) - index(b) || a.metadata.name!.localeCompare(b.metadata.name!),
    );
  }

  async activePods(): Promise<readonly PodObject[]> {
    return (await this.pods()).filter(
      ({ metadata, status }) =>
        !metadata.deletionTimestamp && status?.phase !== "Succeeded" && status?.phase !== "Failed",
    );
  }

  async createPod(pod: Pod): Promise<void> {
    await this.admin.resource(pods).create(pod, { namespace: NAMESPACE });
    await this.advance(0);
  }

  async deletePod({ metadata }: PodObject, gracePeriodSeconds?: number): Promise<void> {
    await this.admin.resource(pods).delete(metadata.name!, {
      namespace: NAMESPACE,
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    });
    await this.advance(0);
  }

  async patchPod({ metadata }: PodObject, body: object): Promise<void> {
    await this.admin.resource(pods).patch(metadata.name!, { type: "merge", body }, { namespace: NAMESPACE });
    await this.advance(0);
  }

  /** Reports the pod's phase as the kubelet. */
  async setPhase(
    { metadata }: PodObject,
    phase: "Running" | "Succeeded" | "Failed",
    { exitCode }: { exitCode?: number } = {},
  ): Promise<void> {
    const now = formatTime(this.clock.now());
    const running = phase === "Running";
    const state = running
      ? { running: { startedAt: now } }
      : { terminated: { exitCode: exitCode ?? (phase === "Failed" ? 1 : 0), startedAt: now, finishedAt: now } };
    const conditions: PodCondition[] = [{ type: "Ready", status: running ? "True" : "False", lastTransitionTime: now }];
    const containerStatuses = [{ name: "main", image: "work:1", imageID: "", ready: running, restartCount: 0, state }];
    const body = { status: { phase, conditions, containerStatuses } };
    await this.admin
      .resource(pods)
      .patch(metadata.name!, { type: "merge", body }, { namespace: NAMESPACE, subresource: "status" });
    await this.advance(0);
  }

  /** Returns events as `type reason: message` with their count. */
  async eventTexts(): Promise<string[]> {
    const { items } = await this.admin.resource(events).list({ namespace: NAMESPACE });
    return items.map(
      ({ type, reason, message, count }) => `${type} ${reason}: ${message}${(count ?? 1) > 1 ? ` (${count}x)` : ""}`,
    );
  }
}

export function refusal(code: number, reason: string): ApiResponse {
  return refused({ code, reason, message: "refused" });
}
