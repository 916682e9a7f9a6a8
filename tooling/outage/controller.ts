/** Runs a controller of Kubernetes alone until SIGTERM. Arguments: URL of the API server, name of the controller. */
import { Client } from "@kubewright/client";
import { realClock, realRandom } from "@kubewright/clock";
import type { ControllerDeps, Runnable } from "@kubewright/controller";
import { CronJobController } from "@kubewright/cronjob";
import { GarbageCollector } from "@kubewright/garbage-collector";
import { PodGCController } from "@kubewright/podgc";
import { createHttpTransport } from "@kubewright/transport-http";
import { TTLAfterFinishedController } from "@kubewright/ttl-after-finished";

const controllers: Readonly<Record<string, (deps: ControllerDeps) => Runnable>> = {
  cronjob: (deps) => new CronJobController({ ...deps, localTimeZone: "UTC" }),
  "garbage-collector": (deps) => new GarbageCollector(deps),
  podgc: (deps) => new PodGCController({ ...deps, terminatedPodThreshold: 1000 }),
  "ttl-after-finished": (deps) => new TTLAfterFinishedController(deps),
};
const [server, name] = process.argv.slice(2);
const clock = realClock;
const { transport } = createHttpTransport({ server: server! });
const client = new Client({ transport, clock, userAgent: name! });
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
await controllers[name!]!({ client, clock, random: realRandom }).run(stop.signal);
