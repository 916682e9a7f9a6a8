/**
 * A program with the same output under every runtime: a week of CronJobs in virtual time, with an informer and a work
 * queue. `check-install.ts` runs it under several Nodes, Deno and Bun with the installed packages, and compares the
 * output.
 */
import { cronJobs, jobs, keyOf, objectKey, pods } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { createCluster } from "@kubewright/cluster";
import { parseSchedule } from "@kubewright/cron";
import { InformerFactory } from "@kubewright/informer";
import { RateLimitingQueue, defaultControllerRateLimiter } from "@kubewright/workqueue";

const DAY_MS = 24 * 3_600_000;
const clock = new SimulatedClock("2026-03-25T00:00:00Z");
const random = seededRandom(7);
const cluster = createCluster({ clock, random });
const stop = new AbortController();
const running = cluster.run(stop.signal);
await clock.settle();

const client = cluster.client("everywhere");
const informers = new InformerFactory({ client, clock, random: random.fork("informers") });
const podInformer = informers.informerFor(pods);
const byJob = podInformer.addIndexers({ byJob: ({ metadata }) => [metadata.labels?.["job-name"] ?? ""] });
const queue = new RateLimitingQueue<string>({ clock, rateLimiter: defaultControllerRateLimiter({ clock }) });
const jobInformer = informers.informerFor(jobs);
jobInformer.addEventHandler({ onUpdate: (_old, job) => queue.add(keyOf(job)) });
const informed = informers.run(stop.signal);

let syncs = 0;
const worker = (async () => {
  for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
    if (++syncs % 50 === 0) queue.addRateLimited(key);
    else queue.forget(key);
    queue.done(key);
  }
})();

// Clocks in Berlin go forward at 02:00 on the 29th.
const schedule = "30 2 * * *";
await client.resource(cronJobs).create({
  metadata: { namespace: "default", name: "nightly" },
  spec: {
    schedule,
    timeZone: "Europe/Berlin",
    jobTemplate: {
      spec: {
        completions: 3,
        parallelism: 2,
        template: {
          metadata: { annotations: { "sim.kubewright.dev/duration": "10m", "sim.kubewright.dev/failure-rate": "0.3" } },
          spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
        },
      },
    },
  },
});
await clock.advance(7 * DAY_MS);

const next = parseSchedule(schedule, { timeZone: "Europe/Berlin" }).next(Date.parse("2026-03-28T12:00:00Z"));
console.log("next", new Date(next!).toISOString());
for (const { metadata, status } of (await client.resource(jobs).list()).items) {
  const ofJob = byJob.byIndex("byJob", metadata.name!);
  console.log(
    metadata.name,
    metadata.uid,
    status?.startTime,
    status?.completionTime,
    ofJob.map(keyOf).sort().join(" "),
  );
}
const { status } = await client.resource(cronJobs).get("nightly", { namespace: "default" });
const gone = jobInformer.store.get(objectKey({ name: "none" }));
console.log(`${status?.lastScheduleTime} syncs ${syncs}, ${gone === undefined ? "none" : "one"} by another name`);
queue.shutDown();
stop.abort();
await Promise.all([running, informed, worker]);
