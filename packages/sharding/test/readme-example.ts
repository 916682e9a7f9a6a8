import { namespaces } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { ShardMember, bucketOf } from "@kubewright/sharding";

// With realClock and a transport to a real cluster the same code shares real work.
const clock = new SimulatedClock("2026-01-01T00:00:00Z");
const random = seededRandom(1);
const { transport } = createApiServer({ clock, random });

const member = new ShardMember({
  client: new Client({ transport, clock }),
  transport,
  clock,
  random,
  namespace: "kube-system",
  identity: "replica-0",
  runBucket: async ({ bucket, name, transport: fenced, opened }, signal) => {
    const client = new Client({ transport: fenced, clock });
    // A list without a resourceVersion contains every write of the former owner.
    const { items } = await client.resource(namespaces).list();
    opened();
    for (const { metadata } of items)
      if (bucketOf(metadata.name!) === bucket) console.log(`bucket ${name}: ${metadata.name}`);
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  },
});

const stop = new AbortController();
const running = member.run(stop.signal);
await clock.advance(20_000);
stop.abort();
await clock.advance(5_000);
await running;
