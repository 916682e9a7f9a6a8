import { type KubernetesObject, customResourceDefinitions, defineResource, events, formatTime } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { type ControllerDeps, ControllerShell, type Runnable, enqueueObject } from "@kubewright/controller";

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

/** Greets the recipient of each Greeting at the interval in its spec. All dependencies are passed in. */
function greetingController(deps: ControllerDeps): Runnable {
  const shell = new ControllerShell(deps, { name: "greeter" });
  const { client, clock, events } = shell;
  const informer = shell.informer(greetings);
  const queue = shell.addLoop({
    queue: "greetings",
    workers: 2,
    async reconcile(key, signal) {
      const greeting = informer.store.get(key);
      if (greeting === undefined) return {}; // deleted
      const { spec, status } = greeting;
      const dueMs = status === undefined ? 0 : Date.parse(status.lastGreeted) + spec.everySeconds * 1000;
      if (dueMs > clock.now()) return { requeueAfterMs: dueMs - clock.now() };
      // With a stale cache this write fails with a Conflict: the greeting is not repeated, and the key is retried.
      const lastGreeted = formatTime(clock.now());
      await client.resource(greetings).updateStatus({ ...greeting, status: { lastGreeted } }, { signal });
      events.event(greeting, greetings, "Normal", "Greeted", `Hello ${spec.to}`);
      return { requeueAfterMs: spec.everySeconds * 1000 };
    },
  });
  informer.addEventHandler(enqueueObject(queue));
  return shell;
}

// This example runs in virtual time. For a real cluster, use realClock, realRandom and the transport of
// createHttpTransport.
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
