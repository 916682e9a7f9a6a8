import { request } from "node:http";

import { formatShardSelector, namespaceShard, namespaces, pods } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { listen } from "@kubewright/apiserver/http";
import { Client } from "@kubewright/client";
import { realClock, seededRandom } from "@kubewright/clock";
import { bucketOf, freeAssignment, targetsOf } from "@kubewright/sharding";
import { expect, test } from "vitest";

const MEMBERS = ["a", "b", "c", "d"];
/** Many namespaces: the hashes of their names distribute few namespaces unevenly. */
const NAMESPACES = Array.from({ length: 1_000 }, (_, index) => `tenant-${String(index).padStart(4, "0")}`);
/** Name of the last pod, in a namespace that every member receives: all earlier events have arrived before it. */
const LAST = "last";
/** More than the size of one event. */
const EVENT_BYTES = 16_384;

/** Reads a watch of pods over a new connection until the last pod arrives, and returns the number of received bytes. */
function watchedBytes(url: string, resourceVersion: string, shard: string | undefined): Promise<number> {
  const query = new URLSearchParams({
    watch: "1",
    resourceVersion,
    ...(shard === undefined ? {} : { shardSelector: shard }),
  });
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/api/v1/pods?${query.toString()}`, { agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (!text.endsWith("\n") || !text.slice(-EVENT_BYTES).includes(`"name":"${LAST}"`)) return;
        const before = text.split("\n").filter((line) => !line.includes(`"name":"${LAST}"`));
        resolve(Buffer.byteLength(before.join("\n")));
        outgoing.destroy();
      });
      answer.on("error", () => undefined);
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

test("over HTTP each of four members is sent at most 30 % of the bytes of a watch, and all together no more than one", async (scope) => {
  const featureGates = { ShardedListAndWatch: true };
  const server = createApiServer({ clock: realClock, random: seededRandom(1), featureGates });
  const listener = await listen(server, { port: 0 });
  scope.onTestFinished(async () => {
    await listener.close();
    await server.close();
  });
  const client = new Client({ transport: server.transport, clock: realClock });
  for (const name of [...NAMESPACES, LAST]) await client.resource(namespaces).create({ metadata: { name } });
  const owners = targetsOf(freeAssignment, MEMBERS);
  const { resourceVersion } = server;
  const shards = MEMBERS.map((member) => NAMESPACES.filter((name) => owners[bucketOf(name)] === member));
  const parts = shards.map((own) =>
    watchedBytes(listener.url, resourceVersion, formatShardSelector(namespaceShard([...own, LAST]))),
  );
  const whole = watchedBytes(listener.url, resourceVersion, undefined);
  const spec = { containers: [{ name: "main", image: "busybox" }] };
  for (const namespace of NAMESPACES)
    await client.resource(pods).create({ metadata: { name: "pod", namespace }, spec });
  await client.resource(pods).create({ metadata: { name: LAST, namespace: LAST }, spec });
  const [sizes, all] = [await Promise.all(parts), await whole];
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(all);
  expect(Math.max(...sizes) / all).toBeLessThanOrEqual(0.3);
  expect(Math.min(...sizes) / all).toBeGreaterThan(0.15);
});
