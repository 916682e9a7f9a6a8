import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { InformerFactory } from "@kubewright/informer";
import { expect, test } from "vitest";

import type { ManagedController } from "./managed-controller.js";
import { Manager, type ManagerOptions } from "./manager.js";

/** Options of a manager with one set of caches for each namespace, and a log of what its parts do. */
function setUp(controllers: readonly ManagedController[], namespaces: readonly string[]) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const random = seededRandom(1);
  const { transport } = createApiServer({ clock, random });
  const client = new Client({ transport, clock, userAgent: "test" });
  const caches = namespaces.map((namespace) => new InformerFactory({ client, clock, random, namespace }));
  const options: ManagerOptions<never> = {
    controllers,
    caches,
    clock,
    logger: silentLogger,
    depsFor: () => ({ client, clock, random }) as never,
  };
  return { clock, caches, options };
}

test("each controller is built for each set of caches before the first one starts", async () => {
  const log: string[] = [];
  const named = (name: string): ManagedController => ({
    name,
    sharing: "none",
    build: () => {
      log.push(`${name} built`);
      return { name, run: async () => void log.push(`${name} runs`) };
    },
  });
  const { clock, options } = setUp([named("a"), named("b")], ["one", "two"]);
  const stop = new AbortController();
  const running = new Manager(options).run(stop.signal);
  await clock.advance(1_000);
  stop.abort();
  await clock.advance(1_000);
  await running;
  expect(log).toEqual(["a built", "a built", "b built", "b built", "a runs", "a runs", "b runs", "b runs"]);
});

test("caches and support stop after the last sync of the controllers", async () => {
  const log: string[] = [];
  const note = (name: string, stopMs: number) => ({
    name,
    run: async (signal: AbortSignal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await clock.sleep(stopMs);
      log.push(`${name} stopped`);
    },
  });
  const slow: ManagedController = { name: "slow", sharing: "none", build: () => note("slow", 5_000) };
  const { clock, options } = setUp([slow], ["one"]);
  const stop = new AbortController();
  const running = new Manager({ ...options, support: [note("recorder", 0)] }).run(stop.signal);
  stop.abort();
  await clock.advance(10_000);
  await running;
  expect(log).toEqual(["slow stopped", "recorder stopped"]);
});

test("a controller that cannot be built is named", () => {
  const broken: ManagedController = {
    name: "broken",
    sharing: "none",
    build: () => {
      throw new Error("no volume");
    },
  };
  const { options } = setUp([broken], ["one"]);
  expect(() => new Manager(options)).toThrow("Error building controllers: broken: no volume");
});
