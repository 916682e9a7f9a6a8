import { type DeepReadonly, type Job, type JobCondition, formatTime, jobs } from "@kubewright/api";
import { isNotFound } from "@kubewright/client";

import { ControllerHarness } from "../../controller/test/controller-harness.js";
import { TTLAfterFinishedController, type TTLDecision } from "../src/index.js";

/** The controller on a clock that begins at second 0; its requests are timed, e.g. `10 DELETE jobs/j`. */
export class Harness extends ControllerHarness {
  readonly decisions: TTLDecision[] = [];
  /** Seconds of the metric. */
  readonly durations: number[] = [];
  readonly jobs = this.admin.resource(jobs);
  /** Changes what the controller's cache holds. */
  transform: (job: DeepReadonly<Job>) => DeepReadonly<Job> = (job) => job;
  readonly #startMs = this.clock.now();

  constructor() {
    super({ timed: true });
  }

  start(): Promise<void> {
    return this.play(
      (deps) =>
        new TTLAfterFinishedController({
          ...deps,
          metrics: { jobDeletionDuration: (seconds) => void this.durations.push(seconds) },
          onDecision: (decision) => void this.decisions.push(decision),
        }),
      { transform: (object) => this.transform(object) as unknown as typeof object },
    );
  }

  /** What the controller warned of. */
  get warnings(): string[] {
    return this.logged.filter(({ level }) => level === "warn").map(({ message }) => message);
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
}
