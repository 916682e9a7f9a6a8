import { type ContainerStatus, type Pod, formatTime, pods } from "@kubewright/api";
import { type Client, isNotFound } from "@kubewright/client";
import { type SimulatedClock, seededRandom } from "@kubewright/clock";
import { InformerFactory } from "@kubewright/informer";

import type { PodObject } from "../src/job-spec.js";
import { uidOf } from "../src/pod-state.js";

/** The behaviour of a pod, relative to its creation. */
export interface PodScript {
  /** When it becomes running and ready; never if absent. */
  readonly readyAfterMs?: number;
  /** When it ends; never if absent. */
  readonly endsAfterMs?: number;
  /** Default 0: success. */
  readonly exitCode?: number;
}

/** @param nth - Number of the pod in order of creation, from 0. */
export type Script = (nth: number, pod: PodObject) => PodScript;

/** Simulates the kubelet by a script, in virtual time. A deleted pod fails after one second and is then removed. */
export class ScriptedKubelet {
  readonly #client: Client;
  readonly #clock: SimulatedClock;
  readonly #script: Script;
  readonly #deleting = new Set<string>();
  #seen = 0;

  constructor({ client, clock, script }: { client: Client; clock: SimulatedClock; script: Script }) {
    this.#client = client;
    this.#clock = clock;
    this.#script = script;
  }

  async run(signal: AbortSignal): Promise<void> {
    const clock = this.#clock;
    const informers = new InformerFactory({ client: this.#client, clock, random: seededRandom(3) });
    informers.informerFor<Pod>(pods).addEventHandler({
      onAdd: (pod) => this.#start(pod),
      onUpdate: (_, pod) => this.#update(pod),
    });
    await informers.run(signal);
  }

  #start(pod: PodObject): void {
    const { readyAfterMs, endsAfterMs, exitCode = 0 } = this.#script(this.#seen++, pod);
    if (readyAfterMs !== undefined) this.#after(readyAfterMs, () => this.#report(pod, "Running"));
    if (endsAfterMs !== undefined)
      this.#after(endsAfterMs, () => this.#report(pod, exitCode === 0 ? "Succeeded" : "Failed", exitCode));
    this.#update(pod);
  }

  #update(pod: PodObject): void {
    if (pod.metadata.deletionTimestamp == null || this.#deleting.has(uidOf(pod))) return;
    this.#deleting.add(uidOf(pod));
    this.#after(1_000, async () => {
      await this.#report(pod, "Failed", 137);
      await this.#client.resource(pods).delete(pod.metadata.name!, { ...namespaceOf(pod), gracePeriodSeconds: 0 });
    });
  }

  #after(delayMs: number, action: () => Promise<void>): void {
    this.#clock.setTimer(
      delayMs,
      () =>
        void action().catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        }),
    );
  }

  async #report(pod: PodObject, phase: "Running" | "Succeeded" | "Failed", exitCode = 0): Promise<void> {
    const now = formatTime(this.#clock.now());
    const running = phase === "Running";
    const current = await this.#client.resource(pods).get(pod.metadata.name!, namespaceOf(pod));
    // A terminal phase is final.
    if (current.status?.phase === "Succeeded" || current.status?.phase === "Failed") return;
    const container: ContainerStatus = {
      name: "main",
      image: "work:1",
      imageID: "",
      ready: running,
      restartCount: 0,
      state: running ? { running: { startedAt: now } } : { terminated: { exitCode, finishedAt: now } },
    };
    const ready = { type: "Ready", status: running ? "True" : "False", lastTransitionTime: now };
    const body = { status: { phase, conditions: [ready], containerStatuses: [container] } };
    await this.#client
      .resource(pods)
      .patch(pod.metadata.name!, { type: "merge", body }, { ...namespaceOf(pod), subresource: "status" });
  }
}

function namespaceOf({ metadata }: PodObject): { namespace: string } {
  return { namespace: metadata.namespace ?? "" };
}
