/** A user's controller. `check-install.ts` compiles and runs it in a project with the installed packages. */
import { type Job, type KubernetesObject, defineResource, isJobFinished, jobs, keyOf } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { realClock, seededRandom } from "@kubewright/clock";
import { ControllerExpectations } from "@kubewright/expectations";
import { InformerFactory } from "@kubewright/informer";
import { RateLimitingQueue, defaultControllerRateLimiter } from "@kubewright/workqueue";

interface CronTab extends KubernetesObject {
  spec: { cronSpec: string };
}
export const cronTabs = defineResource<CronTab>({
  group: "stable.example.com",
  version: "v1",
  resource: "crontabs",
  kind: "CronTab",
  namespaced: true,
});

const random = seededRandom(1);
const server = createApiServer({ clock: realClock, random });
const client = new Client({ transport: server.transport, clock: realClock });
const queue = new RateLimitingQueue<string>({
  clock: realClock,
  rateLimiter: defaultControllerRateLimiter({ clock: realClock }),
});
const expectations = new ControllerExpectations({ clock: realClock });
const informers = new InformerFactory({ client, clock: realClock, random });
const informer = informers.informerFor<Job>(jobs);
informer.addEventHandler({ onAdd: (job) => queue.add(keyOf(job)) });

const pi: Job = {
  metadata: { namespace: "default", name: "pi" },
  spec: {
    template: { spec: { restartPolicy: "Never", containers: [{ name: "pi", image: "perl" }] } },
    // @ts-expect-error a number is wanted
    parallelism: "2",
  },
};
await client.resource(jobs).create({ ...pi, spec: { ...pi.spec!, parallelism: 2 } });

const stop = new AbortController();
const stopped = informers.run(stop.signal);
await informers.waitForCacheSync();
for (const job of informer.store.list()) {
  // @ts-expect-error what is cached is read-only
  const write = (): void => void (job.metadata.labels = {});
  const satisfied = expectations.satisfiedExpectations(keyOf(job));
  console.log(typeof write, queue.length, isJobFinished(job), job.spec?.parallelism, satisfied);
}
stop.abort();
await stopped;
queue.shutDown();
await server.close();
