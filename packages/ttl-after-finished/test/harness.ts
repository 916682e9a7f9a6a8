import { createApiServer } from "@kubewright/apiserver";
import { type DeepReadonly, type Job, type JobCondition, formatTime, jobs } from "@kubewright/api";
import { Client, isNotFound } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { silentLogger } from "@kubewright/controller";
import { InformerFactory } from "@kubewright/informer";
import type { Transport } from "@kubewright/transport";

import { TTLAfterFinishedController, type TTLDecision } from "../src/index.js";

/** The controller against an API server, on a simulated clock that begins at second 0. */
export class Harness {
  readonly clock = new SimulatedClock("2026-03-02T10:00:00Z");
  readonly decisions: TTLDecision[] = [];
  /** Seconds of the metric. */
  readonly durations: number[] = [];
  /** Requests of the controller's client with the second they were sent at, e.g. `10 DELETE jobs/j`. */
  readonly requests: string[] = [];
  readonly bodies: unknown[] = [];
  /** What the controller warned of. */
  readonly warnings: string[] = [];
  /** Called before a request of the controller is sent. */
  onRequest: (request: string) => Promise<unknown> | undefined = () => undefined;
  readonly jobs;
  /** Changes what the controller's cache holds. */
  transform: (job: DeepReadonly<Job>) => DeepReadonly<Job> = (job) => job;
  readonly #startMs = this.clock.now();
  readonly #informers: InformerFactory;
  readonly #controller: TTLAfterFinishedController;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor() {
    const { clock } = this;
    const random = seededRandom(1);
    const { transport } = createApiServer({ clock, random: random.fork("apiserver"), freeze: true });
    const admin = new Client({ transport, clock });
    this.jobs = admin.resource(jobs);
    this.#informers = new InformerFactory({
      client: admin,
      clock,
      random,
      transform: (object) => this.transform(object) as unknown as typeof object,
    });
    this.#controller = new TTLAfterFinishedController({
      client: new Client({ transport: this.#recording(transport), clock }),
      clock,
      random,
      informers: this.#informers,
      logger: { ...silentLogger, warn: (_, text) => void this.warnings.push(text) },
      metrics: { jobDeletionDuration: (seconds) => void this.durations.push(seconds) },
      onDecision: (decision) => void this.decisions.push(decision),
    });
  }

  async start(): Promise<void> {
    const { signal } = this.#stop;
    this.#running = Promise.all([this.#informers.run(signal), this.#controller.run(signal)]);
    await this.clock.settle();
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("stopped"));
    await this.#running;
  }

  async advance(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1000);
  }

  sent(): string[] {
    return this.requests.splice(0);
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
    await this.clock.settle();
  }

  /** Ends the Job as the Job controller would. */
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
    await this.clock.settle();
  }

  async setTTL(ttlSecondsAfterFinished: number | null): Promise<void> {
    const body = { spec: { ttlSecondsAfterFinished } };
    await this.jobs.patch("j", { type: "merge", body }, { namespace: "default" });
    await this.clock.settle();
  }

  async getJob(): Promise<DeepReadonly<Job> | undefined> {
    try {
      return await this.jobs.get("j", { namespace: "default" });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Does away with the Job, finalizers and all. */
  async removeJob(): Promise<void> {
    await this.jobs.delete("j", { namespace: "default", propagationPolicy: "Background" });
  }

  #second(): number {
    return (this.clock.now() - this.#startMs) / 1000;
  }

  #recording(transport: Transport): Transport {
    return async (request) => {
      const path = request.path.replace(/^\/apis\/batch\/v1\/namespaces\/[^/]+\//, "");
      this.requests.push(`${this.#second()} ${request.method} ${path}`);
      if (request.body?.type === "decoded") this.bodies.push(request.body.value);
      await this.onRequest(`${request.method} ${path}`);
      return transport(request);
    };
  }
}
