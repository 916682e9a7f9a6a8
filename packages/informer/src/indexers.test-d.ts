import { type ConfigMap, configMaps } from "@kubewright/api";
import type { Client } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import { test } from "vitest";

import { InformerFactory, type Lister, SharedInformer, Store } from "./index.js";

declare const client: Client;
declare const clock: Clock;
declare const random: Random;

test("an index that a cache has not does not compile", () => {
  const informer = new InformerFactory({ client, clock, random }).informerFor(configMaps);
  const indexed = informer.addIndexers({ byTeam: ({ metadata }) => [metadata.labels?.["team"] ?? ""] });
  void informer.store.byIndex("namespace", "default");
  void indexed.byIndex("namespace", "default");
  void indexed.byIndex("byTeam", "blue");
  // @ts-expect-error misspelt
  void indexed.byIndex("byteam", "blue");
  // @ts-expect-error the lister that knows of it is the one that was answered
  void informer.store.byIndex("byTeam", "blue");
});

test("indexes given when a cache is made are known to its type", () => {
  const indexers = { byTeam: () => ["blue"] };
  const informer = new SharedInformer({ client: client.resource(configMaps), clock, random, indexers });
  void informer.store.byIndex("byTeam", "blue");
  // @ts-expect-error no such index
  void informer.store.byIndex("byColour", "blue");
  const store = new Store<ConfigMap, "byTeam">({ indexers });
  // @ts-expect-error no such index
  void store.byIndex("byColour", "blue");
});

test("who needs an index cannot be handed a cache without it", () => {
  const needsTeams = (maps: Lister<ConfigMap, "byTeam">): unknown => maps.byIndex("byTeam", "blue");
  const informer = new InformerFactory({ client, clock, random }).informerFor(configMaps);
  // @ts-expect-error only the namespace index
  needsTeams(informer.store);
  needsTeams(informer.addIndexers({ byTeam: () => [], byColour: () => [] }));
});
