import {
  type KubernetesObject,
  type ObjectKey,
  customResourceDefinitions,
  defineResource,
  events,
  formatTime,
  keyOf,
} from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { type Clock, type Random, SimulatedClock, seededRandom } from "@kubewright/clock";
import { EventRecorder, ReconcileLoop, type Runnable, runInStages } from "@kubewright/controller";
import { InformerFactory } from "@kubewright/informer";
import { RateLimitingQueue, defaultControllerRateLimiter } from "@kubewright/workqueue";

interface Greeting extends KubernetesObject {
  spec: { to: string; everySeconds: number };
  status?: { lastGreeted: string };
}
const greetings = defineResource<Greeting>({
  group: "example.com",
  version: "v1",
  resource: "greetings",
  kind: "Greeting",
  namespaced: true,
});

/** Greets whoever a Greeting names, as often as it says. Everything it needs is handed in. */
function greetingController({ client, clock, random }: { client: Client; clock: Clock; random: Random }): Runnable {
  const informers = new InformerFactory({ client, clock, random });
  const informer = informers.informerFor(greetings);
  const recorder = new EventRecorder({ client, clock, random, component: "greeter" });
  const rateLimiter = defaultControllerRateLimiter<ObjectKey>({ clock });
  const queue = new RateLimitingQueue({ clock, rateLimiter, name: "greetings" });
  informer.addEventHandler({
    onAdd: (greeting) => queue.add(keyOf(greeting)),
    onUpdate: (_old, greeting) => queue.add(keyOf(greeting)),
  });
  const loop = new ReconcileLoop({
    name: "greeter",
    queue,
    clock,
    workers: 2,
    waitForSync: (signal) => informer.waitForSync(signal),
    async reconcile(key, signal) {
      const greeting = informer.store.get(key);
      if (greeting === undefined) return {}; // deleted
      const { spec, status } = greeting;
      const dueMs = status === undefined ? 0 : Date.parse(status.lastGreeted) + spec.everySeconds * 1000;
      if (dueMs > clock.now()) return { requeueAfterMs: dueMs - clock.now() };
      // Written from a stale cache this is refused with a Conflict: nobody is greeted twice, the key comes back later.
      const lastGreeted = formatTime(clock.now());
      await client.resource(greetings).updateStatus({ ...greeting, status: { lastGreeted } }, { signal });
      recorder.event(greeting, greetings, "Normal", "Greeted", `Hello ${spec.to}`);
      return { requeueAfterMs: spec.everySeconds * 1000 };
    },
  });
  // What is under way ends first, then its events are written; informers serve it until then.
  return { name: "greeter", run: (signal) => runInStages([[loop], [recorder, informers]], signal) };
}

// Here in virtual time; for a real cluster, realClock, realRandom and the transport of createHttpTransport.
const clock = new SimulatedClock("2026-01-01T00:00:00Z");
const { transport } = createApiServer({ clock, random: seededRandom(1) });
const client = new Client({ transport, clock });
await client.resource(customResourceDefinitions).create({
  metadata: { name: "greetings.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "greetings", kind: "Greeting" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
});
await clock.advance(1_000); // until the definition is established

const stop = new AbortController();
const running = greetingController({ client, clock, random: seededRandom(2) }).run(stop.signal);
await client.resource(greetings).create({
  metadata: { namespace: "default", name: "world" },
  spec: { to: "world", everySeconds: 600 },
});
await clock.advance(30 * 60_000);
for (const { count, message, lastTimestamp } of (await client.resource(events).list()).items) {
  console.log(`${message}: ${count} times, the last at ${lastTimestamp}`);
}
stop.abort();
await running;
