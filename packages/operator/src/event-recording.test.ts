import { events, eventsV1, jobs } from "@kubewright/api";
import { expect, test } from "vitest";

import { backups, jobOf } from "../test/backups.js";
import { place, startServer } from "../test/operator-harness.js";
import { type EventsApi, createOperator } from "./index.js";
import { operatorManifests } from "./manifests/index.js";

function backupOperator(api?: EventsApi) {
  const operator = createOperator({ name: "backup-operator", ...(api === undefined ? {} : { events: api }) });
  operator
    .controllerFor(backups)
    .owns(jobs)
    .reconcile(async ({ object, cache, client, events }) => {
      if (cache.get(jobs, object.metadata.name!, object.metadata.namespace) !== undefined) return;
      const job = await client.create(jobs, jobOf(object));
      events.normal("Started", "Created a Job", { action: "CreateJob", related: { object: job, definition: jobs } });
      events.warning("Slow", "This takes a while");
    });
  return operator;
}

async function recorded(api?: EventsApi) {
  const { clock, client, run, createBackup } = await startServer();
  const { stop, requests } = run(backupOperator(api), { host: "node-1" });
  await createBackup("a");
  await clock.advance(20_000);
  await stop();
  const written = requests.filter(({ method, path }) => method !== "GET" && path.includes("/events"));
  return {
    paths: [...new Set(written.map(({ path }) => path.split("?")[0]))],
    core: (await client.resource(events).list(place)).items,
    later: (await client.resource(eventsV1).list(place)).items,
  };
}

test("an operator records events through core/v1", async () => {
  const { paths, core } = await recorded();
  expect(paths).toEqual(["/api/v1/namespaces/default/events"]);
  const started = core.find(({ reason }) => reason === "Started");
  expect(started).toMatchObject({ source: { component: "backup-operator" }, count: 1, message: "Created a Job" });
  expect(started).not.toHaveProperty("action");
});

test("with events.k8s.io/v1 it records them there, with action, related object and host, its Lease's too", async () => {
  const { paths, core, later } = await recorded("events.k8s.io/v1");
  expect(paths).toEqual(["/apis/events.k8s.io/v1/namespaces/default/events"]);
  const reporter = { reportingController: "backup-operator", reportingInstance: "backup-operator-node-1" };
  expect(later.find(({ reason }) => reason === "Started")).toMatchObject({
    ...reporter,
    action: "CreateJob",
    regarding: { apiVersion: "example.com/v1", kind: "Backup", name: "a" },
    related: { apiVersion: "batch/v1", kind: "Job", name: "a" },
    note: "Created a Job",
    type: "Normal",
  });
  expect(later.find(({ reason }) => reason === "Slow")).toMatchObject({ ...reporter, action: "Slow", type: "Warning" });
  expect(later.find(({ reason }) => reason === "LeaderElection")).toMatchObject({ regarding: { kind: "Lease" } });
  expect(core.find(({ reason }) => reason === "Started")).toMatchObject({ message: "Created a Job" });
});

test.each<[EventsApi | undefined, string]>([
  [undefined, ""],
  ["v1", ""],
  ["events.k8s.io/v1", "events.k8s.io"],
])("the roles of an operator with events %s allow Events of just that API", (api, group) => {
  const rules = operatorManifests({ operator: backupOperator(api) })
    .flatMap((object) =>
      "rules" in object ? (object.rules as { apiGroups: string[]; resources: string[]; verbs: string[] }[]) : [],
    )
    .filter(({ resources }) => resources.includes("events"));
  expect(rules).toEqual([1, 2].map(() => ({ apiGroups: [group], resources: ["events"], verbs: ["create", "patch"] })));
});
