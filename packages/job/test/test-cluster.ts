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
import { InformerFactory } from "@kubewright/informer";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import { JobController } from "../src/job-controller.js";
import type { JobObject, PodObject } from "../src/job-spec.js";
import type { JobDecision } from "../src/sync-job.js";
import { T0 } from "./fixtures.js";

const NAMESPACE = "default";

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
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
  readonly #server: ApiServer = createApiServer({ clock: this.clock, random: seededRandom(1), freeze: true });
  readonly #user = new Client({ transport: this.#server.transport, clock: this.clock, userAgent: "test" });
  readonly #failures: unknown[] = [];
  #running: Running | undefined;

  static async start(): Promise<TestCluster> {
    const cluster = new TestCluster();
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
    const informers = new InformerFactory({ client, clock, random, onError: (error) => this.#failures.push(error) });
    const controller = new JobController({
      client,
      clock,
      random,
      informers,
      onDecision: (decision) => this.decisions.push(decision),
    });
    const stop = new AbortController();
    this.#running = { stop, ended: Promise.all([informers.run(stop.signal), controller.run(stop.signal)]) };
    await this.advance(0);
  }

  /** As a crash would: what is in memory is lost. */
  async stopController(): Promise<void> {
    const { stop, ended } = this.#running!;
    stop.abort(new Error("stopped"));
    await ended;
  }

  async close(): Promise<void> {
    await this.stopController();
    await this.#server.close();
    if (this.#failures.length > 0) throw new Error("an informer failed", { cause: this.#failures[0] });
  }

  async advance(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1000);
  }

  async createJob(spec: Partial<JobSpec> = {}, metadata: ObjectMeta = {}): Promise<JobObject> {
    const labels = { who: "job" };
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
        manualSelector: true,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
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
