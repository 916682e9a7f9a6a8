import {
  type Job,
  type ObjectKey,
  type Pod,
  type Status,
  getControllerOf,
  jobs as jobResource,
  mutableCopy,
  pods as podResource,
} from "@kubewright/api";
import { Client } from "@kubewright/client";
import { SimulatedClock } from "@kubewright/clock";
import { PodControl } from "@kubewright/controller";
import { Store } from "@kubewright/informer";
import type { ApiRequest, ApiResponse } from "@kubewright/transport";

import { jobPodsIndex, jobPodsIndexValues } from "../src/job-pods-index.js";
import { JobMemory } from "../src/job-memory.js";
import type { JobObject, PodObject } from "../src/job-spec.js";
import type { JobDecision } from "../src/job-decision.js";
import { syncJob } from "../src/sync-job.js";
import { CountedMetrics } from "./counted-metrics.js";
import { T0 } from "./fixtures.js";

export const KEY = "ns/job" as ObjectKey;

type Refusal = { readonly code: number; readonly reason?: string; readonly cause?: string };

/**
 * Runs syncs of one Job against caches that change only on request, and a server without state. The server records
 * every call as `POST generateName`, `PATCH pod`, `DELETE pod`, `GET job` or `PUT status`. It responds as if each call
 * had succeeded.
 */
export class SyncBench {
  readonly clock = new SimulatedClock(T0);
  readonly jobStore = new Store<Job>();
  readonly podStore = new Store<Pod>({ indexers: { [jobPodsIndex]: jobPodsIndexValues } });
  readonly memory: JobMemory;
  readonly calls: string[] = [];
  readonly bodies: unknown[] = [];
  readonly events: string[] = [];
  /** The resourceVersion in each event. */
  readonly eventVersions: (string | undefined)[] = [];
  readonly requeues: number[] = [];
  /** Counts by metric and labels. */
  readonly metrics = new CountedMetrics();
  readonly decisions: JobDecision[] = [];
  /** The Job as last written. */
  written: Job | undefined;
  /** The Job on the server, if it differs from the cached Job. */
  live: Job | undefined;
  /** Returns the rejection for a call, if any. */
  refuse: (call: string) => Refusal | undefined = () => undefined;
  #version = 100;
  #created = 0;

  constructor(
    job: JobObject | undefined,
    pods: readonly PodObject[] = [],
    { consistencyGate = true }: { readonly consistencyGate?: boolean } = {},
  ) {
    const { clock, jobStore, podStore } = this;
    this.memory = new JobMemory({ clock, jobStore, podStore, consistencyGate });
    if (job !== undefined) this.jobStore.add(job);
    for (const pod of pods) this.podStore.add(pod);
  }

  /** Clears the recorded calls and events, then runs a sync. @returns The error of the sync, if any. */
  async sync(key: ObjectKey = KEY): Promise<Error | undefined> {
    this.calls.length = this.bodies.length = this.events.length = this.requeues.length = 0;
    this.eventVersions.length = 0;
    const client = new Client({ transport: (request) => Promise.resolve(this.#serve(request)), clock: this.clock });
    const events = {
      event: ({ metadata }: JobObject, _definition: unknown, type: string, reason: string, message: string) => {
        this.events.push(`${type} ${reason}: ${message}`);
        this.eventVersions.push(metadata.resourceVersion);
      },
    };
    const onWrite = (pod: PodObject): void => {
      const owner = getControllerOf(pod);
      if (owner !== undefined)
        this.memory.consistency.wroteAt(KEY, owner.uid, podResource, pod.metadata.resourceVersion ?? "");
    };
    const deps = {
      jobs: this.jobStore,
      pods: this.podStore,
      jobClient: client.resource(jobResource),
      podControl: new PodControl({ client, events, onWrite }),
      events,
      memory: this.memory,
      clock: this.clock,
      metrics: this.metrics,
      requeueAfter: (_key: ObjectKey, delayMs: number) => void this.requeues.push(delayMs),
      minRequeueMs: 1_000,
      onDecision: (decision: JobDecision) => void this.decisions.push(decision),
    };
    try {
      await syncJob(key, deps, new AbortController().signal);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  /** Updates the caches: stores the last written Job, and marks both caches as current. */
  catchUp(): void {
    if (this.written !== undefined) this.jobStore.update(this.written);
    this.jobStore.bookmark(String(this.#version));
    this.podStore.bookmark(String(this.#version));
  }

  #serve({ method, path, body }: ApiRequest): ApiResponse {
    const sent = body?.type === "decoded" ? body.value : undefined;
    const name = method === "POST" ? (sent as Pod).metadata.generateName! : path.split("/").at(-1)!;
    const call = `${method} ${name}`;
    this.calls.push(call);
    this.bodies.push(sent);
    const refusal = this.refuse(call);
    const value = refusal === undefined ? this.#apply(method, name, sent) : refused(call, refusal);
    return { status: refusal?.code ?? 200, headers: {}, body: { type: "decoded", value } };
  }

  #apply(method: string, name: string, sent: unknown): unknown {
    const resourceVersion = String(++this.#version);
    if (method === "POST") {
      const pod = mutableCopy(sent) as Pod;
      return {
        ...pod,
        metadata: {
          ...pod.metadata,
          namespace: "ns",
          name: `${name}${this.#created++}`,
          uid: `uid-${this.#version}`,
          resourceVersion,
        },
      };
    }
    if (method === "PUT") {
      const job = mutableCopy(sent) as Job;
      this.written = { ...job, metadata: { ...job.metadata, resourceVersion } };
      return this.written;
    }
    if (method === "GET") return this.live ?? this.jobStore.get(KEY);
    if (method === "DELETE")
      return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 200 } satisfies Status;
    const pod = mutableCopy(this.podStore.get(`ns/${name}` as ObjectKey)) as Pod;
    const metadata = (sent as Partial<Pod>).metadata as Pod["metadata"] & Record<string, unknown>;
    pod.metadata.resourceVersion = resourceVersion;
    if (metadata.ownerReferences?.some((reference) => "$patch" in reference)) delete pod.metadata.ownerReferences;
    else if (metadata.ownerReferences !== undefined) pod.metadata.ownerReferences = metadata.ownerReferences;
    if (metadata.finalizers !== undefined) pod.metadata.finalizers = metadata.finalizers;
    if ("$deleteFromPrimitiveList/finalizers" in metadata) delete pod.metadata.finalizers;
    return pod;
  }
}

function refused(call: string, { code, reason = "", cause }: Refusal): Status {
  const status: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `${call} refused`,
    reason,
    code,
  };
  if (cause !== undefined) status.details = { causes: [{ reason: cause }] };
  return status;
}
