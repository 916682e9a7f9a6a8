import { createApiServer } from "@kubewright/apiserver";
import {
  type CronJob,
  type DeepReadonly,
  type Job,
  type Status,
  cronJobs,
  formatTime,
  jobs,
  mutableCopy,
} from "@kubewright/api";
import { Client } from "@kubewright/client";
import { type Random, SimulatedClock, seededRandom } from "@kubewright/clock";
import type { EventSink } from "@kubewright/controller";
import type { Transport } from "@kubewright/transport";

export const NAMESPACE = "default";

/** Answers requests instead of the server: the first whose method and path match is used, as long as it says. */
export interface Fault {
  readonly method: string;
  readonly path: RegExp;
  readonly status: Partial<Status> & { readonly code: number };
  times: number;
}

/** An API server on a simulated clock, a client whose writes are recorded and that can be made to fail, and one that is neither. */
export class Harness {
  readonly clock: SimulatedClock;
  readonly random: Random = seededRandom(1);
  readonly faults: Fault[] = [];
  /** Writes of the controller's client, such as `POST jobs`, `PUT cronjobs/n/status`. */
  readonly writes: string[] = [];
  /** Recorded events, such as `Normal SuccessfulCreate Created job n-1`. */
  readonly events: string[] = [];
  readonly sink: EventSink = {
    event: (_object, _definition, type, reason, message) => void this.events.push(`${type} ${reason} ${message}`),
  };
  /** Called before each write of the controller's client reaches the server. */
  onWrite: (write: string) => void = () => undefined;
  readonly client: Client;
  readonly #admin: Client;

  constructor(start = "2026-03-02T09:59:30Z") {
    this.clock = new SimulatedClock(start);
    const { clock, random } = this;
    const { transport } = createApiServer({ clock, random: random.fork("apiserver"), freeze: true });
    this.#admin = new Client({ transport, clock });
    this.client = new Client({ transport: this.#faulty(transport), clock });
  }

  fail(method: string, path: RegExp, status: Fault["status"], times = 1): void {
    this.faults.push({ method, path, status, times });
  }

  get cronJobs() {
    return this.#admin.resource(cronJobs);
  }

  get jobs() {
    return this.#admin.resource(jobs);
  }

  async createCronJob(spec: Partial<NonNullable<CronJob["spec"]>> = {}, name = "n"): Promise<DeepReadonly<CronJob>> {
    return this.cronJobs.create({
      metadata: { name, namespace: NAMESPACE },
      spec: { schedule: "0 * * * *", jobTemplate: { spec: jobSpec() }, ...spec },
    });
  }

  getCronJob(name = "n"): Promise<DeepReadonly<CronJob>> {
    return this.cronJobs.get(name, { namespace: NAMESPACE });
  }

  setStatus(cronJob: DeepReadonly<CronJob>, status: NonNullable<CronJob["status"]>): Promise<DeepReadonly<CronJob>> {
    return this.cronJobs.updateStatus({ ...cronJob, status });
  }

  /** Creates a Job under the control of a CronJob, or of what else is given. */
  async createJob(
    name: string,
    owner: { readonly metadata: { readonly name?: string; readonly uid?: string } } | undefined,
    kind = "CronJob",
  ) {
    const ownerReferences =
      owner === undefined
        ? []
        : [
            {
              apiVersion: "batch/v1",
              kind,
              name: owner.metadata.name ?? "",
              uid: owner.metadata.uid ?? "",
              controller: true,
            },
          ];
    return this.jobs.create({ metadata: { name, namespace: NAMESPACE, ownerReferences }, spec: jobSpec() });
  }

  /** Ends a Job as the Job controller would. */
  async finishJob(
    name: string,
    type: "Complete" | "Failed" = "Complete",
    times: { start?: string; end?: string } = {},
  ) {
    const job = mutableCopy(await this.jobs.get(name, { namespace: NAMESPACE })) as Job;
    const now = formatTime(this.clock.now());
    const { start = now, end = now } = times;
    const before = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
    job.status = {
      startTime: start,
      ...(type === "Complete" ? { completionTime: end } : {}),
      conditions: [before, type].map((each) => ({ type: each, status: "True" })),
    };
    return this.jobs.updateStatus(job);
  }

  async jobNames(): Promise<(string | undefined)[]> {
    const { items } = await this.jobs.list({ namespace: NAMESPACE });
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name);
  }

  #faulty(transport: Transport): Transport {
    return async (request) => {
      const path = request.path.replace(/^\/apis\/batch\/v1\/namespaces\/[^/]+\//, "").replace(/\?.*$/, "");
      if (request.method !== "GET") {
        this.writes.push(`${request.method} ${path}`);
        this.onWrite(`${request.method} ${path}`);
      }
      const fault = this.faults.find(
        (each) => each.times > 0 && each.method === request.method && each.path.test(path),
      );
      if (fault === undefined) return transport(request);
      fault.times--;
      const value: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...fault.status };
      return { status: value.code, headers: {}, body: { type: "decoded", value } };
    };
  }
}

export function jobSpec(): NonNullable<Job["spec"]> {
  return { template: { spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" } } };
}

/** The time of a slot on the day all tests play. */
export function at(time: string): number {
  return Date.parse(`2026-03-02T${time}Z`);
}
