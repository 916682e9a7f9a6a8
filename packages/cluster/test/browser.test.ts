import { fileURLToPath } from "node:url";
import vm from "node:vm";

import { build } from "esbuild";
import { expect, test } from "vitest";

/** Script of a page: runs a Job to its end, and returns the types of its conditions. */
const PROGRAM = `
  import { jobs } from "@kubewright/api";
  import { SimulatedClock, realRandom } from "@kubewright/clock";
  import { createCluster } from "@kubewright/cluster";

  globalThis.played = (async () => {
    const clock = new SimulatedClock("2026-01-01T00:00:00Z");
    const cluster = createCluster({ clock, random: realRandom, authorization: "RBAC" });
    const stop = new AbortController();
    const running = cluster.run(stop.signal);
    await clock.settle();
    const client = cluster.client("page").resource(jobs);
    const containers = [{ name: "c", image: "i" }];
    const spec = { template: { spec: { restartPolicy: "Never", containers } } };
    await client.create({ metadata: { namespace: "default", name: "pi" }, spec });
    await clock.advance(60_000);
    const { status } = await client.get("pi", { namespace: "default" });
    stop.abort();
    await running;
    return status.conditions.map(({ type }) => type).join();
  })();
`;

/** Globals of every browser, without Node's modules. Each context has its own language globals. */
const WEB = {
  AbortController,
  AbortSignal,
  DOMException,
  Event,
  EventTarget,
  MessageChannel,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  atob,
  btoa,
  clearTimeout,
  console,
  crypto,
  performance,
  queueMicrotask,
  setTimeout,
  structuredClone,
};

test("a cluster is bundled for browsers, and runs a Job to its end without Node's modules", async () => {
  const { outputFiles } = await build({
    stdin: { contents: PROGRAM, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    target: "es2024",
    conditions: ["@kubewright/source"],
    logLevel: "silent",
  });
  const page = vm.createContext({ ...WEB }) as { played?: Promise<string> };
  vm.runInContext(outputFiles[0]!.text, page);
  expect(await page.played).toBe("SuccessCriteriaMet,Complete");
});
