/**
 * What the informer itself costs, on a transport that hands over decoded objects: `npm run build && node bench/informer.ts`.
 */
import { type Pod, pods } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { realClock, seededRandom } from "@kubewright/clock";
import type { Transport } from "@kubewright/transport";

import { SharedInformer } from "@kubewright/informer";

const PODS = 26_200;
const EVENTS = 1_000_000;

function pod(index: number, resourceVersion: number): Pod {
  const ownerReferences = [
    { apiVersion: "batch/v1", kind: "Job", name: `job-${index}`, uid: `uid-${index}`, controller: true },
  ];
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: {
      name: `pod-${index}`,
      namespace: `ns-${index % 50}`,
      resourceVersion: `${resourceVersion}`,
      ownerReferences,
    },
  };
}

const initial = Array.from({ length: PODS }, (_, index) => pod(index, index + 1));
// Few enough to leave the heap small, more than pods so that every event changes something.
const changes = Array.from({ length: 100_000 }, (_, index) => ({
  type: "MODIFIED",
  object: pod(index % PODS, PODS + index + 1),
}));

const transport: Transport = async (request) => {
  const streamed = request.path.includes("sendInitialEvents=true");
  if (!request.path.includes("watch=true")) {
    return {
      status: 200,
      headers: {},
      body: { type: "decoded", value: { metadata: { resourceVersion: `${PODS}` }, items: initial } },
    };
  }
  const events = async function* () {
    if (streamed) {
      for (const object of initial) yield { type: "ADDED", object };
      const annotations = { "k8s.io/initial-events-end": "true" };
      yield { type: "BOOKMARK", object: { kind: "Pod", metadata: { resourceVersion: `${PODS}`, annotations } } };
    }
    for (let round = 0; round < EVENTS / changes.length; round++) yield* changes;
    if (request.signal?.aborted !== true)
      await new Promise((resolve) => request.signal?.addEventListener("abort", resolve));
  };
  return { status: 200, headers: {}, body: { type: "events", events: events() } };
};

for (const watchList of [false, true]) {
  for (let round = 0; round < 3; round++) {
    const controller = new AbortController();
    const informer = new SharedInformer<Pod>({
      client: new Client({ transport, clock: realClock }).resource(pods),
      clock: realClock,
      random: seededRandom(1),
      watchList,
      indexers: {
        owner: ({ metadata }) =>
          (metadata.ownerReferences ?? []).map(({ kind, name, uid }) => `${metadata.namespace}/${kind}/${name}/${uid}`),
      },
    });
    let updates = 0;
    const done = new Promise<void>((resolve) => {
      informer.addEventHandler({ onUpdate: () => void (++updates === EVENTS && resolve()) });
    });
    const start = performance.now();
    const stopped = informer.run(controller.signal);
    await informer.waitForSync();
    const synced = performance.now();
    await done;
    const drained = performance.now();
    controller.abort();
    await stopped;
    const how = watchList ? "streamed" : "listed";
    console.log(
      `${how.padEnd(9)} first sync of ${PODS}: ${(synced - start).toFixed(0)} ms;  ${(EVENTS / 1000 / (drained - synced)).toFixed(2)} M events/s`,
    );
  }
}
