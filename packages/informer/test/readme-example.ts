import { type ConfigMap, configMaps } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { realClock, realRandom } from "@kubewright/clock";
import { InformerFactory, deletedObject } from "@kubewright/informer";

// Any transport works; this one is an API server in the same process.
const server = createApiServer({ clock: realClock, random: realRandom });
const client = new Client({ transport: server.transport, clock: realClock });

const informers = new InformerFactory({
  client,
  clock: realClock,
  random: realRandom,
  onError: (error) => console.error(error.message), // the informer continues by itself
});
const maps = informers.informerFor<ConfigMap>(configMaps);
const indexed = maps.addIndexers({ byTeam: (object) => [object.metadata.labels?.["team"] ?? ""] });
maps.addEventHandler({
  onAdd: (object, isInInitialList) =>
    console.log(`${object.metadata.name} added${isInInitialList ? ", initially" : ""}`),
  onUpdate: (_old, object) => console.log(`${object.metadata.name} changed`),
  onDelete: (deleted) => console.log(`${deletedObject(deleted)?.metadata.name} deleted`),
});

const writer = client.resource(configMaps);
await writer.create({ metadata: { name: "first", namespace: "default", labels: { team: "blue" } } });

const stop = new AbortController();
const stopped = informers.run(stop.signal);
await informers.waitForCacheSync();
await writer.create({ metadata: { name: "second", namespace: "default", labels: { team: "blue" } } });
await writer.delete("first", { namespace: "default" });
await realClock.yieldToEventLoop();
console.log(
  indexed
    .byIndex("byTeam", "blue")
    .map((object) => object.metadata.name)
    .join(),
);

stop.abort();
await stopped;
await server.close();
