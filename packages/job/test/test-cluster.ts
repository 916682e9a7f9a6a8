import { setMaxListeners } from "node:events";

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
import { type ApiServer, createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { InformerFactory, type InformerFactoryOptions } from "@kubewright/informer";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import { JobController } from "../src/job-controller.js";
import type { JobObject, PodObject } from "../src/job-spec.js";
import type { JobDecision } from "../src/job-decision.js";
import { CountedMetrics } from "./counted-metrics.js";
import { T0 } from "./fixtures.js";
import { type Script, ScriptedKubelet } from "./scripted-kubelet.js";

const NAMESPACE = "default";

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

export interface TestClusterOptions {
  /** Default 1000, as upstream, so that tests can tell when a sync is due. */
  readonly syncBatchPeriodMs?: number | "adaptive";
  /** Whether what the server hands out is frozen. Default true. */
  readonly freeze?: boolean;
  /** Changes what the controller's caches are given. */
  readonly transform?: InformerFactoryOptions["transform"];
}

/** An embedded API server and a Job controller in virtual time; the test plays user and kubelet. */
export class TestCluster {
  readonly clock = new SimulatedClock(T0);
  readonly decisions: JobDecision[] = [];
  /** Requests of the controller, as `POST pods`, `PATCH pods/name`, …, without watches, lists and events. */
  readonly requests: string[] = [];
  /** What to answer a request of the controller with, in the server's place; `serve` asks the server. */
  intercept: (request: ApiRequest, serve: Transport) => ApiResponse | undefined | Promise<ApiResponse> = () =>
    undefined;
  readonly #server: ApiServer;
  readonly #user: Client;
  readonly #failures: unknown[] = [];
  readonly #helpers: Running[] = [];
  #running: Running | undefined;

  /** What the controller logged. */
  readonly logged: { readonly level: string; readonly fields: object; readonly message: string }[] = [];
  readonly metrics = new CountedMetrics();
  readonly #syncBatchPeriodMs: number | undefined;
  readonly #transform: TestClusterOptions["transform"];

  constructor({ syncBatchPeriodMs = 1_000, freeze = true, transform }: TestClusterOptions = {}) {
    this.#transform = transform;
    this.#syncBatchPeriodMs = syncBatchPeriodMs === "adaptive" ? undefined : syncBatchPeriodMs;
    this.#server = createApiServer({ clock: this.clock, random: seededRandom(1), freeze });
    this.#user = new Client({ transport: this.#server.transport, clock: this.clock, userAgent: "test" });
  }

  static async start(options?: TestClusterOptions): Promise<TestCluster> {
    const cluster = new TestCluster(options);
    await cluster.startController();
    return cluster;
  }

  async startController(): Promise<void> {
    const { clock } = this;
    const transport = (request: ApiRequest): Promise<ApiResponse> => {
      const [path = ""] = request.path.split("?");
      const target = path.split("/").slice(path.startsWith("/apis/") ? 6 : 5);
      if (request.method !== "GET" && target[0] !== "events")
        this.requests.push(`${request.method} ${target.join("/")}`);
      const answer = this.intercept(request, this.#server.transport);
      return answer === undefined ? this.#server.transport(request) : Promise.resolve(answer);
    };
    const client = new Client({ transport, clock, userAgent: "job-controller" });
    const random = seededRandom(2);
    const informers = new InformerFactory({
      client,
      clock,
      random,
      transform: this.#transform,
      onError: (error) => this.#failures.push(error),
    });
    const log =
      (level: string) =>
      (fields: object, message: string): void =>
        void this.logged.push({ level, fields, message });
    const controller = new JobController({
      client,
      clock,
      random,
      informers,
      metrics: this.metrics,
      logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
      ...(this.#syncBatchPeriodMs !== undefined && { syncBatchPeriodMs: this.#syncBatchPeriodMs }),
      onDecision: (decision) => this.decisions.push(decision),
    });
    const stop = new AbortController();
    // Every request in flight listens, and there may be hundreds.
    setMaxListeners(0, stop.signal);
    this.#running = { stop, ended: Promise.all([informers.run(stop.signal), controller.run(stop.signal)]) };
    await this.advance(0);
  }

  /** Plays the kubelet by a script until the cluster is closed, whatever becomes of the controller. */
  async runKubelet(script: Script): Promise<void> {
    const stop = new AbortController();
    const kubelet = new ScriptedKubelet({ client: this.#user, clock: this.clock, script });
    this.#helpers.push({ stop, ended: kubelet.run(stop.signal) });
    await this.advance(0);
  }

  /** What the controller is told when it stops; without waiting for it, from the middle of a request of its own. */
  abortController(): void {
    this.#running!.stop.abort(new Error("stopped"));
  }

  /** As a crash would: what is in memory is lost. */
  async stopController(): Promise<void> {
    this.abortController();
    await this.#running!.ended;
  }

  async close(): Promise<void> {
    await this.stopController();
    for (const { stop, ended } of this.#helpers) {
      stop.abort(new Error("stopped"));
      await ended;
    }
    await this.#server.close();
    if (this.#failures.length > 0) throw new Error("an informer failed", { cause: this.#failures[0] });
  }

  async advance(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1000);
  }

  async createJob(spec: Partial<JobSpec> = {}, metadata: ObjectMeta = {}): Promise<JobObject> {
    // The API server's own selector has the Job's UID, which the random source makes; tests read better with this one.
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
    const created = await this.#user.resource(jobs).create(job);
    await this.advance(0);
    return created;
  }

  async patchJob(patch: object): Promise<void> {
    await this.#user.resource(jobs).patch("job", { type: "merge", body: patch }, { namespace: NAMESPACE });
    await this.advance(0);
  }

  async deleteJob(propagationPolicy: "Background" | "Foreground" | "Orphan" = "Background"): Promise<void> {
    await this.#user.resource(jobs).delete("job", { namespace: NAMESPACE, propagationPolicy });
    await this.advance(0);
  }

  job(): Promise<JobObject> {
    return this.#user.resource(jobs).get("job", { namespace: NAMESPACE });
  }

  async status(): Promise<NonNullable<JobObject["status"]>> {
    return (await this.job()).status ?? {};
  }

  /** In order of creation, then of index. */
  async pods(): Promise<readonly PodObject[]> {
    const { items } = await this.#user.resource(pods).list({ namespace: NAMESPACE });
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
    await this.#user.resource(pods).create(pod, { namespace: NAMESPACE });
    await this.advance(0);
  }

  async deletePod({ metadata }: PodObject, gracePeriodSeconds?: number): Promise<void> {
    await this.#user.resource(pods).delete(metadata.name!, {
      namespace: NAMESPACE,
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    });
    await this.advance(0);
  }

  async patchPod({ metadata }: PodObject, body: object): Promise<void> {
    await this.#user.resource(pods).patch(metadata.name!, { type: "merge", body }, { namespace: NAMESPACE });
    await this.advance(0);
  }

  /** The kubelet reports the pod's phase. */
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
    await this.#user
      .resource(pods)
      .patch(metadata.name!, { type: "merge", body }, { namespace: NAMESPACE, subresource: "status" });
    await this.advance(0);
  }

  /** `type reason: message`, with how often. */
  async events(): Promise<string[]> {
    const { items } = await this.#user.resource(events).list({ namespace: NAMESPACE });
    return items.map(
      ({ type, reason, message, count }) => `${type} ${reason}: ${message}${(count ?? 1) > 1 ? ` (${count}x)` : ""}`,
    );
  }
}

/** What a server answers that refuses, for reasons of its own. */
export function refusal(code: number, reason: string): ApiResponse {
  const value = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: "refused", reason, code };
  return { status: code, headers: {}, body: { type: "decoded", value } };
}
