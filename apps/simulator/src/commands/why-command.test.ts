import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import {
  type CronJob,
  type Job,
  clusterRoleBindings,
  clusterRoles,
  cronJobs,
  jobs,
  newControllerRef,
} from "@kubewright/api";
import { listen } from "@kubewright/apiserver/http";
import type { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { type AuditRecord, type ControllerName, createCluster } from "@kubewright/cluster";
import { expect, test } from "vitest";
import { stringify } from "yaml";

import { type CommandResult, kubewright } from "../../test/memory-io.js";
import { kubeconfigFor } from "../serve/kubeconfig.js";
import { ZonedClock } from "@kubewright/analysis/time";
import type { CronJobExplanation } from "@kubewright/analysis/why";

/** The permissions of the ClusterRole `view` that the command needs, without `watch`. */
const VIEW = [
  { apiGroups: ["batch"], resources: ["cronjobs", "jobs"], verbs: ["get", "list"] },
  { apiGroups: [""], resources: ["pods", "events"], verbs: ["get", "list"] },
];

interface World {
  readonly clock: SimulatedClock;
  readonly client: Client;
  /** Runs `kubewright why …` over HTTP as a user with those permissions, at the virtual time. */
  readonly why: (...args: string[]) => Promise<CommandResult>;
  /** Runs the same without `--at`. */
  readonly whyNow: (...args: string[]) => Promise<CommandResult>;
  /** Returns the explanation of the CronJob `report`. */
  readonly explain: () => Promise<CronJobExplanation>;
  /** Requests of the user. */
  readonly asked: AuditRecord[];
  /** Address of the API server. */
  readonly url: string;
  readonly files: Map<string, string>;
}

interface WorldOptions {
  readonly controllers?: readonly ControllerName[];
  readonly rules?: typeof VIEW;
  readonly start?: string;
}

/** Runs steps on an embedded cluster in virtual time that also listens on a socket. */
async function inCluster(
  { controllers, rules = VIEW, start = "2026-03-02T09:59:30Z" }: WorldOptions,
  steps: (world: World) => Promise<void>,
): Promise<void> {
  const clock = new SimulatedClock(start);
  const cluster = createCluster({
    clock,
    random: seededRandom(1),
    freeze: true,
    authorization: "RBAC",
    authentication: { anonymous: false, tokens: { viewer: { username: "viewer" } } },
    ...(controllers === undefined ? {} : { controllers }),
  });
  const asked: AuditRecord[] = [];
  cluster.apiServer.observe((record) => {
    if (record.user === "viewer") asked.push(record);
  });
  const client = cluster.client("test");
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  const { url } = await listen(cluster.apiServer, { host: "127.0.0.1", port: 0 });
  const folder = await mkdtemp(path.join(tmpdir(), "kubewright-why-"));
  try {
    const kubeconfig = path.join(folder, "config");
    await writeFile(kubeconfig, kubeconfigFor({ url, token: "viewer" }));
    await clock.settle();
    await grant(client, rules);
    const files = new Map<string, string>();
    const whyNow = (...args: string[]): Promise<CommandResult> =>
      kubewright(["why", "--kubeconfig", kubeconfig, ...args], { files: Object.fromEntries(files) });
    const why = (...args: string[]): Promise<CommandResult> =>
      whyNow("--at", new Date(clock.now()).toISOString(), ...args);
    const explain = async (): Promise<CronJobExplanation> => {
      const { stdout, stderr } = await why("cronjob/report", "-o", "json");
      expect(stderr).toBe("");
      return (JSON.parse(stdout) as { explanation: CronJobExplanation }).explanation;
    };
    await steps({ clock, client, why, whyNow, explain, asked, files, url });
  } finally {
    stop.abort();
    await clock.settle();
    await running;
    await cluster.apiServer.close();
    await rm(folder, { recursive: true });
  }
}

async function grant(client: Client, rules: typeof VIEW): Promise<void> {
  await client.resource(clusterRoles).create({ metadata: { name: "viewer" }, rules });
  await client.resource(clusterRoleBindings).create({
    metadata: { name: "viewer" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "viewer" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "viewer" }],
  });
}

function cronJob(spec: Partial<NonNullable<CronJob["spec"]>> = {}, duration = "10s"): CronJob {
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "report", namespace: "default" },
    spec: {
      schedule: "0 * * * *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { annotations: { "sim.kubewright.dev/duration": duration } },
            spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
          },
        },
      },
      ...spec,
    },
  };
}

const HOUR = 3_600_000;

test("a healthy CronJob is explained with nothing but GET and LIST, and the rights to get and list", async () => {
  await inCluster({}, async ({ clock, client, why, asked: requests }) => {
    await client.resource(cronJobs).create(cronJob());
    await clock.advance(2 * HOUR);
    const { code, stdout, stderr } = await why("cronjob/report");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("CronJob default/report  as of Mon 2026-03-02 11:59:30 UTC");
    expect(stdout).toContain("Now       nothing to do: no slot has come since the run of Mon 2026-03-02 11:00 UTC");
    expect(stdout).toMatch(/Mon 2026-03-02 11:00 UTC {2}report-29540820 {2}Complete in \d+s/);
    const [job] = (await client.resource(jobs).list({ namespace: "default" })).items;
    const explained = await why(`job/${job!.metadata.name}`);
    expect(explained.stdout).toContain(`run of CronJob report for Mon 2026-03-02 1`);
    expect(explained.stdout).toContain("Complete: CompletionsReached: Reached expected number of succeeded pods");
    expect(requests.length).toBeGreaterThan(5);
    expect(new Set(requests.map(({ verb }) => verb))).toEqual(new Set(["get", "list"]));
    expect(requests.filter(({ code: answer }) => answer !== 200)).toEqual([]);
  });
});

test("an outage: what was missed, and that no controller is running", async () => {
  await inCluster({ controllers: [] }, async ({ clock, client, explain }) => {
    await client.resource(cronJobs).create(cronJob());
    await clock.advance(3 * HOUR);
    const { now, missed } = await explain();
    expect(now).toMatchObject({ outcome: "ran", slot: "2026-03-02T12:00:00Z", job: "report-29540880" });
    expect(now.message).toContain("59m30s late; if this persists, no controller is running");
    expect(missed).toMatchObject([{ reason: "notLooked", count: 2, first: "2026-03-02T10:00:00Z" }]);
  });
});

test("the prediction for Forbid matches what the controller does", async () => {
  await inCluster({}, async ({ clock, client, explain }) => {
    await client.resource(cronJobs).create(cronJob({ concurrencyPolicy: "Forbid" }, "90m"));
    await clock.advance(1.5 * HOUR);
    const { now, events } = await explain();
    expect(now).toMatchObject({ outcome: "skipped", reason: "stillActive", slot: "2026-03-02T11:00:00Z" });
    expect(events.map(({ reason }) => reason)).toContain("JobAlreadyActive");
    await clock.advance(0.25 * HOUR);
    const after = await explain();
    expect(after.runs.map(({ job }) => job)).toEqual([now.job, "report-29540760"]);
    expect(after.now.outcome).toBe("notDue");
  });
});

test("suspended: the run that resuming would start is the one it starts", async () => {
  await inCluster({}, async ({ clock, client, explain, why, files }) => {
    const made = await client.resource(cronJobs).create(cronJob({ suspend: true }));
    await clock.advance(2.5 * HOUR);
    const { now, missed } = await explain();
    expect(now.message).toContain("resumed now, it would start report-29540880 at once");
    expect(missed).toMatchObject([{ reason: "suspended", count: 2 }]);
    files.set("resumed.yaml", stringify(cronJob({ suspend: false })));
    const dry = JSON.parse((await why("cronjob/report", "-f", "resumed.yaml", "-o", "json")).stdout) as {
      edit: { firstRun: { job: string } };
    };
    expect(dry.edit.firstRun.job).toBe("report-29540880");
    await client.resource(cronJobs).update({ ...made, spec: { ...made.spec, suspend: false } });
    await clock.advance(1000);
    expect((await explain()).runs.map(({ job }) => job)).toEqual(["report-29540880"]);
  });
});

test("a deadline that passed during an outage, and too many missed slots", async () => {
  await inCluster({ controllers: [] }, async ({ clock, client, explain }) => {
    await client.resource(cronJobs).create(cronJob({ schedule: "*/5 * * * *", startingDeadlineSeconds: 200 }));
    await clock.advance(0.25 * HOUR);
    const { now, missed } = await explain();
    expect(now).toMatchObject({ outcome: "skipped", reason: "deadlinePassed" });
    expect(missed).toMatchObject([{ reason: "deadlinePassed", count: 3, exact: true }]);
  });
  await inCluster({ controllers: [] }, async ({ clock, client, explain }) => {
    await client.resource(cronJobs).create(cronJob({ schedule: "* * * * *" }));
    await clock.advance(4 * HOUR);
    const { now, missed, notes } = await explain();
    expect(now).toMatchObject({ outcome: "ran", slot: "2026-03-02T13:59:00Z" });
    expect(missed).toMatchObject([{ count: 239, exact: false }]);
    expect(notes.join()).toContain("TooManyMissedTimes");
  });
});

test("the dry run of a schedule edit predicts the run that the old timer starts late", async () => {
  await inCluster({}, async ({ clock, client, why, files, explain }) => {
    const created = await client.resource(cronJobs).create(cronJob({ schedule: "30 * * * *" }));
    await clock.advance(1.25 * HOUR);
    files.set("edit.yaml", stringify(cronJob({ schedule: "0 * * * *" })));
    const { code, stdout } = await why("cronjob/report", "-f", "edit.yaml");
    expect(code).toBe(0);
    expect(stdout).toContain("schedule: 30 * * * * → 0 * * * *");
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      "at Mon 2026-03-02 11:30 UTC (the timer of the old schedule, which stays) starts report-29540820, for the slot Mon 2026-03-02 11:00 UTC, 30m late",
    );
    const current = await client.resource(cronJobs).get("report", { namespace: "default" });
    await client.resource(cronJobs).update({ ...current, spec: { ...created.spec, schedule: "0 * * * *" } });
    await clock.advance(0.2 * HOUR);
    expect((await explain()).runs[0]?.job).toBe("report-29540790");
    await clock.advance(0.1 * HOUR);
    expect((await explain()).runs[0]?.job).toBe("report-29540820");
  });
});

test("a namespace with more Jobs than fit on a page is read to its end", async () => {
  await inCluster({ controllers: [] }, async ({ client, explain, asked: requests }) => {
    const { metadata } = await client.resource(cronJobs).create(cronJob());
    const owner = newControllerRef({ metadata }, { apiVersion: "batch/v1", kind: "CronJob" });
    const { spec } = cronJob().spec.jobTemplate;
    for (let index = 0; index < 501; index++) {
      const own = { name: `run-${index}`, namespace: "default", ownerReferences: [owner] };
      await client.resource(jobs).create({ metadata: own, ...(spec && { spec }) });
    }
    expect((await explain()).runs).toHaveLength(501);
    expect(requests.filter(({ resource, verb }) => resource === "jobs" && verb === "list")).toHaveLength(2);
  });
});

test.each(["2126-03-02T09:59:30Z", "1999-03-02T09:59:30Z"])(
  "without --at the time is the server's own: from %s on",
  async (start) => {
    await inCluster({ start }, async ({ clock, client, whyNow }) => {
      await client.resource(cronJobs).create(cronJob());
      await clock.advance(2 * HOUR);
      const { stdout } = await whyNow("cronjob/report");
      const brief = new ZonedClock("UTC").brief(clock.now());
      expect(stdout).toContain(`CronJob default/report  as of ${brief}`);
      expect(stdout).toContain("Now       nothing to do: no slot has come since the run of");
      expect(stdout).not.toContain("--at");
      // In the second in which a run is due.
      await clock.advance(30_000);
      expect((await whyNow("cronjob/report")).stdout).not.toContain("late");
    });
  },
);

test("the nights on which clocks change are listed beforehand", async () => {
  await inCluster({ start: "2026-03-07T12:00:00Z" }, async ({ client, why }) => {
    await client.resource(cronJobs).create(cronJob({ schedule: "30 2 * * *", timeZone: "America/New_York" }));
    const { stdout } = await why("cronjob/report");
    expect(stdout).toContain("× Sun 2026-03-08 02:30: clocks go forward from 02:00 to 03:00, so no run");
  });
});

test("a Job that fails is explained while it backs off, with its pods' exit codes", async () => {
  await inCluster({}, async ({ clock, client, why }) => {
    const failing: Job = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "flaky", namespace: "default" },
      spec: {
        template: {
          metadata: { annotations: { "sim.kubewright.dev/duration": "5s", "sim.kubewright.dev/exit-code": "3" } },
          spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
        },
      },
    };
    await client.resource(jobs).create(failing);
    await clock.advance(30_000);
    const { stdout } = await why("job/flaky");
    expect(stdout).toMatch(
      /Now {7}waiting [\d.]+ s before replacing a failed pod \(2 failures since the last success\)/,
    );
    expect(stdout).toContain("exit code 3");
    const decision = JSON.parse((await why("job/flaky", "-o", "json")).stdout) as { explanation: { wake: string } };
    await clock.advance(Date.parse(decision.explanation.wake) - clock.now() - 1000);
    const podsAt = async (): Promise<number> =>
      (JSON.parse((await why("job/flaky", "-o", "json")).stdout) as { explanation: { pods: unknown[] } }).explanation
        .pods.length;
    expect(await podsAt()).toBe(2);
    await clock.advance(2500);
    expect(await podsAt()).toBe(3);
  });
});

test("missing permissions for pods and events reduce the explanation, those for the object itself are an error", async () => {
  await inCluster({ rules: VIEW.slice(0, 1) }, async ({ client, why }) => {
    await client.resource(cronJobs).create(cronJob());
    await client.resource(jobs).create({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "work", namespace: "default" },
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] } } },
    });
    const cron = await why("cronjob/report");
    expect(cron.code).toBe(0);
    expect(cron.stdout).toContain("events cannot be read");
    const work = await why("job/work");
    expect(work.code).toBe(0);
    expect(work.stdout).toContain("Now       unknown without its pods");
    expect(work.stdout).toContain("pods cannot be read");
  });
  await inCluster({ rules: VIEW.slice(1) }, async ({ client, why }) => {
    await client.resource(cronJobs).create(cronJob());
    const { code, stdout, stderr } = await why("cronjob/report");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^kubewright: cronjobs\.batch "report" is forbidden: User "viewer" cannot get .*\n$/);
  });
});

test("a missing object and an unreachable server are one line and status 1", async () => {
  await inCluster({}, async ({ why, files }) => {
    const missing = await why("job/missing", "-n", "kube-system");
    expect(missing).toMatchObject({ code: 1, stdout: "", stderr: 'kubewright: jobs.batch "missing" not found\n' });
    files.set("new.yaml", stringify(cronJob()));
    const created = await why("cronjob/report", "-f", "new.yaml");
    expect(created.code).toBe(0);
    expect(created.stdout).toContain("If the file were applied (there is no such CronJob yet)");
  });
  const folder = await mkdtemp(path.join(tmpdir(), "kubewright-why-"));
  try {
    const stranger = path.join(folder, "stranger");
    await inCluster({}, async ({ url }) => {
      await writeFile(stranger, kubeconfigFor({ url, token: "wrong" }));
      const unknown = await kubewright(["why", "job/a", "--kubeconfig", stranger]);
      const message = "kubewright: cannot get jobs/a: the server does not accept these credentials\n";
      expect(unknown).toMatchObject({ code: 1, stdout: "", stderr: message });
    });
    const gone = path.join(folder, "config");
    await writeFile(gone, kubeconfigFor({ url: "http://127.0.0.1:1" }));
    const refused = await kubewright(["why", "job/a", "--kubeconfig", gone]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^kubewright: cannot get jobs\/a: GET http:\/\/127\.0\.0\.1:1\/.*ECONNREFUSED.*\n$/);
    const stopped = await kubewright(["why", "job/a", "--kubeconfig", gone], { stopped: AbortSignal.abort() });
    expect(stopped).toMatchObject({ code: 130, stderr: "kubewright: stopped before the cluster had answered\n" });
    const context = await kubewright(["why", "job/a", "--kubeconfig", gone, "--context", "other"]);
    expect(context).toMatchObject({ code: 2, stderr: 'kubewright: context "other" does not exist\n' });
  } finally {
    await rm(folder, { recursive: true });
  }
  const none = await kubewright(["why", "job/a"]);
  expect(none).toMatchObject({
    code: 2,
    stderr: "kubewright: no kubeconfig: give --kubeconfig FILE, set KUBECONFIG, or write ~/.kube/config\n",
  });
});

test.each([
  [["why", "deployment/a"], '"deployment/a" names nothing to explain; write cronjob/NAME or job/NAME'],
  [["why", "job/../../x"], '"job/../../x" names nothing to explain'],
  [["why"], "missing required argument 'object'"],
  [["why", "job/a", "-o", "yaml"], '--output: "yaml" is not one of text, json'],
  [["why", "job/a", "--at", "noon"], '--at: "noon" is not a time'],
  [["why", "job/a", "-f", "x.yaml"], "-f: only the schedule of a CronJob can be tried"],
  [["why", "cronjob/a", "-f", "gone.yaml"], "gone.yaml: no such file or folder"],
  [["why", "cronjob/a", "-f", "other.yaml"], "-f other.yaml: it has no CronJob (batch/v1) named a"],
])("%j is wrong usage: one line and status 2", async (args, message) => {
  const { code, stdout, stderr } = await kubewright(args, { files: { "other.yaml": stringify(cronJob()) } });
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`kubewright: ${message}`);
  expect(stderr.indexOf("\n")).toBe(stderr.length - 1);
});
