import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { type KubernetesObject, configMaps, metadataOnly, secrets } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { realClock, seededRandom, silentLogger } from "@kubewright/clock";
import type { SharedInformer } from "@kubewright/informer";
import { createHttpTransport } from "@kubewright/transport-http";
import { expect, onTestFinished, test } from "vitest";

import { embeddedApiServer } from "../../../conformance/api-server.ts";
import { createOperator } from "../src/index.js";

const place = { namespace: "default" };

test("over HTTP a watch of the metadata receives and stores no data, and one with a selector only what matches", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-narrowing-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { url, stop } = await embeddedApiServer([]).start(folder);
  onTestFinished(stop);
  const { transport, close } = createHttpTransport({ server: url });
  onTestFinished(close);
  const client = new Client({ transport, clock: realClock });
  const create = (name: string, labels: Record<string, string> = {}) =>
    client
      .resource(secrets)
      .create({ metadata: { name, ...place, labels }, stringData: { large: "x".repeat(50_000) } });
  for (let index = 0; index < 10; index++) await create(`s-${index}`, index === 0 ? { managed: "yes" } : {});
  const operator = createOperator({ name: "watcher", leaderElection: false });
  operator
    .controllerFor(configMaps)
    .watches(metadataOnly(secrets), () => [])
    .watches(secrets, () => [], { cache: { labelSelector: { matchLabels: { managed: "yes" } } } })
    .reconcile(() => {});
  const stopping = new AbortController();
  const caches: SharedInformer<KubernetesObject>[] = [];
  let received = 0;
  const running = operator.run({
    transport: async (request) => {
      const response = await transport(request);
      const { body } = response;
      if (body.type !== "bytes" || !request.path.includes("/secrets")) return response;
      const chunks = (async function* () {
        for await (const chunk of body.chunks) {
          received += chunk.length;
          yield chunk;
        }
      })();
      return { ...response, body: { type: "bytes", chunks } };
    },
    clock: realClock,
    random: seededRandom(1),
    logger: silentLogger,
    signal: stopping.signal,
    onInformer: (informer, { resource }) => {
      if (resource === "secrets") caches.push(informer);
    },
  });
  const sizes = () => caches.map(({ store }) => store.list().length).sort((a, b) => a - b);
  await expect.poll(sizes).toEqual([1, 10]);
  await create("s-10");
  await expect.poll(sizes).toEqual([1, 11]);
  const stored = caches.find(({ store }) => store.list().length === 11)!.store.list();
  expect(JSON.stringify(stored).length).toBeLessThan(11 * 512);
  expect(stored.every((object) => !("data" in object))).toBe(true);
  // One Secret with its data, and the metadata of all.
  expect(received).toBeLessThan(100_000);
  stopping.abort();
  await running;
});
