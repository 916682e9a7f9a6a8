import { type DeepReadonly, type Job, type JobCondition, formatTime, jobs } from "@kubewright/api";
import { isNotFound } from "@kubewright/client";
import type { SimulatedClock } from "@kubewright/clock";
import { type ControllerDeps, type Runnable, runInStages } from "@kubewright/controller";
import { InformerFactory } from "@kubewright/informer";
import { type RunningController, type TestCluster, requestText, startTestCluster } from "@kubewright/testing";
import { onTestFinished } from "vitest";

import { TTLAfterFinishedController, type TTLDecision } from "../src/index.js";

/** Verbs of requests that fill the caches. */
const CACHE_VERBS: ReadonlySet<string> = new Set(["list", "watch"]);

/**
 * Runs the controller with a clock that starts at second 0. Requests are recorded with their time, e.g. `10 delete
 * jobs.batch default/j`.
 */
export class Harness {
  readonly decisions: TTLDecision[] = [];
  /** Values of the metric, in seconds. */
  readonly durations: number[] = [];
  readonly jobs;
  /** Transforms the Jobs in the controller's cache. */
  transform: (job: DeepReadonly<Job>) => DeepReadonly<Job> = (job) => job;
  readonly #cluster: TestCluster;
  readonly #startMs: number;
  #controller: RunningController | undefined;
  #returnedCount = 0;

  /** Starts only an API server, until the test ends. */
  static async begin(): Promise<Harness> {
    const cluster = await startTestCluster({
      against: "in-process",
      start: "2026-03-02T10:00:00Z",
      controllers: [],
      kubelet: "none",
    });
    onTestFinished(() => cluster.stop());
    return new Harness(cluster);
  }

  private constructor(cluster: TestCluster) {
    this.#cluster = cluster;
    this.#startMs = cluster.clock.now();
    this.jobs = cluster.client.resource(jobs);
  }

  async start(): Promise<void> {
    this.#controller = await this.#cluster.run((deps) => this.#make(deps), { name: "ttl" });
  }

  /** Accepts fractions of a second. */
  async advance(seconds: number): Promise<void> {
    await this.#cluster.advance(seconds * 1000);
  }

  /** Returns the controller's requests since the last call. */
  sent(): string[] {
    const requests = (this.#controller?.requests ?? []).filter(({ verb }) => !CACHE_VERBS.has(verb));
    const newRequests = requests.slice(this.#returnedCount);
    this.#returnedCount = requests.length;
    return newRequests.map((request) => `${(request.atMs - this.#startMs) / 1000} ${requestText(request)}`);
  }

  /** Bodies of the controller's requests. */
  get bodies(): unknown[] {
    return (this.#controller?.requests ?? []).map(({ body }) => body).filter((body) => body !== undefined);
  }

  /** Runs an action just before the next such request reaches the server. */
  before(verb: "get" | "delete", action: () => Promise<void>): void {
    this.#cluster.faults.before({ by: "ttl", verb, resource: jobs }, action);
  }

  get nowMs(): number {
    return this.#cluster.clock.now();
  }

  get pendingTimers(): number {
    return (this.#cluster.clock as SimulatedClock).pendingTimers;
  }

  #make(deps: ControllerDeps): Runnable {
    const { client, clock, random } = deps;
    const informers = new InformerFactory({
      client,
      clock,
      random,
      transform: (object) => this.transform(object) as unknown as typeof object,
    });
    const controller = new TTLAfterFinishedController({
      ...deps,
      informers,
      metrics: { jobDeletionDuration: (seconds) => void this.durations.push(seconds) },
      onDecision: (decision) => void this.decisions.push(decision),
    });
    return { name: "ttl", run: (signal) => runInStages([[controller], [informers]], signal) };
  }

  /** Warnings logged by the controller. */
  get warnings(): string[] {
    return (this.#controller?.logged ?? []).filter(({ level }) => level === "warn").map(({ message }) => message);
  }

  async createJob(ttlSecondsAfterFinished?: number, { suspend = false } = {}): Promise<void> {
    const ttl = ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished };
    await this.jobs.create({
      metadata: { name: "j", namespace: "default" },
      spec: {
        ...ttl,
        suspend,
        template: { spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" } },
      },
    });
    await this.#cluster.advance(0);
  }

  /** Finishes the Job as the Job controller would. */
  async finishJob(type: "Complete" | "Failed" = "Complete", atSecond = this.#second()): Promise<void> {
    const before = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
    await this.setConditions([this.condition(before, "True", atSecond), this.condition(type, "True", atSecond)]);
  }

  condition(type: string, status: "True" | "False", atSecond = this.#second()): JobCondition {
    return { type, status, lastTransitionTime: this.time(atSecond) };
  }

  time(second: number): string {
    return formatTime(this.#startMs + second * 1000);
  }

  async setConditions(conditions: JobCondition[]): Promise<void> {
    const ends = conditions.find(({ type, status }) => type === "Complete" && status === "True");
    const status = {
      startTime: this.time(0),
      conditions,
      ...(ends === undefined ? {} : { completionTime: ends.lastTransitionTime }),
    };
    await this.jobs.patch("j", { type: "merge", body: { status } }, { namespace: "default", subresource: "status" });
    await this.#cluster.advance(0);
  }

  async setTTL(ttlSecondsAfterFinished: number | null): Promise<void> {
    const body = { spec: { ttlSecondsAfterFinished } };
    await this.jobs.patch("j", { type: "merge", body }, { namespace: "default" });
    await this.#cluster.advance(0);
  }

  async getJob(): Promise<DeepReadonly<Job> | undefined> {
    try {
      return await this.jobs.get("j", { namespace: "default" });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Deletes the Job, and its pods in the background. */
  async removeJob(): Promise<void> {
    await this.jobs.delete("j", { namespace: "default", propagationPolicy: "Background" });
  }

  #second(): number {
    return (this.nowMs - this.#startMs) / 1000;
  }
}
