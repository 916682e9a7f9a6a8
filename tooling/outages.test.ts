import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { type KubernetesObject, configMaps, customResourceDefinitions, defineResource, leases } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { realClock } from "@kubewright/clock";
import { createHttpTransport } from "@kubewright/transport-http";
import { expect, test, vi } from "vitest";

import { freePort } from "../conformance/free-port.ts";
import { findRuntime } from "./find-runtime.ts";
import { type Child, startChild } from "./outage/child.ts";

// Programs built from the packages, each in a separate process, during the outage of their API server, which restarts
// with its state. Needs the output of `npm run build`.

const HEAVY = process.env["KUBEWRIGHT_HEAVY"] === "1";
const OUTAGE_MS = HEAVY ? 60_000 : 2_500;
/**
 * With longer Leases, no elector loses its Lease in a short outage, even when a busy machine restarts the API server
 * slowly.
 */
const LEASE = HEAVY ? [] : ["patient"];
const root = path.resolve(import.meta.dirname, "..");
/** Inside the checkout, so that imports resolve like a user's imports. */
const scratch = path.join(root, ".test-output/outages");

const older = findRuntime("node-22");
if ("missing" in older) console.warn(`skipped: outages with Node 22, which cannot be installed here: ${older.missing}`);
const NODES: readonly string[] = [process.execPath, ...("path" in older ? [older.path] : [])];

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

/** Returns the first TypeScript block of a README. */
function snippet(readme: string): string {
  return /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(path.join(root, readme), "utf8"))![1]!;
}

function script(name: string, text: string): string {
  mkdirSync(scratch, { recursive: true });
  const file = path.join(scratch, `${name}.ts`);
  writeFileSync(file, text);
  return file;
}

const GREETER_MAIN = `
import { realClock, realRandom } from "@kubewright/clock";
import { createHttpTransport } from "@kubewright/transport-http";

const { transport } = createHttpTransport({ server: process.argv[2]! });
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
const client = new Client({ transport, clock: realClock });
await greetingController({ client, clock: realClock, random: realRandom }).run(stop.signal);
`;

/** Writes the controller of the README as a program for the API server of the command line. */
function greeterScript(): string {
  const [controller, rest] = snippet("packages/controller/README.md").split("// This example runs in virtual time", 2);
  expect(rest).toBeDefined();
  return script("greeter", controller! + GREETER_MAIN);
}

class Server {
  readonly url: string;
  readonly client: Client;
  readonly #port: number;
  readonly #snapshot: string;
  #process: Child | undefined;

  constructor(port: number) {
    this.#snapshot = script(`store-${port}`, "");
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.client = new Client({ transport: createHttpTransport({ server: this.url }).transport, clock: realClock });
  }

  async start(): Promise<void> {
    const flags = [
      "--port",
      String(this.#port),
      "--controllers",
      "",
      "--kubelet",
      "none",
      "--snapshot",
      this.#snapshot,
    ];
    if (this.#process !== undefined) flags.push("--restore", this.#snapshot);
    const main = path.join(root, "apps/simulator/dist/main.js");
    this.#process = startChild("the API server", process.execPath, [main, "serve", ...flags]);
    await this.#process.waitForOutput(/Serving on/);
  }

  /** Stops the server. Requests in flight are interrupted. */
  async stop(): Promise<void> {
    this.#process?.kill("SIGTERM");
    await this.#process?.exit;
  }

  createMap(name: string): Promise<unknown> {
    return this.client.resource(configMaps).create({ metadata: { name, namespace: "default" } });
  }

  async defineGreetings(): Promise<void> {
    await this.client.resource(customResourceDefinitions).create({
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
  }

  async createGreeting(name: string): Promise<void> {
    const metadata = { name, namespace: "default" };
    await until(() => this.client.resource(greetings).create({ metadata, spec: { to: name, everySeconds: 3_600 } }));
  }

  /** Resolves when a controller has set `lastGreeted`. */
  async greeted(name: string): Promise<void> {
    await until(async () => {
      const { status } = await this.client.resource(greetings).get(name, { namespace: "default" });
      expect(status?.lastGreeted).toBeDefined();
    });
  }

  /** Returns the holders of the Leases that were renewed after the given time. */
  async leadersSince(timeMs: number): Promise<(string | undefined)[]> {
    const { items } = await this.client.resource(leases).list({ namespace: "default" });
    const renewed = items.filter(({ spec }) => Date.parse(spec?.renewTime ?? "") > timeMs);
    return renewed.map(({ spec }) => spec?.holderIdentity);
  }
}

const until = (attempt: () => Promise<unknown>): Promise<unknown> =>
  vi.waitFor(attempt, { timeout: 90_000, interval: 100 });

test(
  `programs survive an API server outage of ${OUTAGE_MS / 1000} s, log it, and continue after it`,
  { timeout: 300_000 },
  async ({ onTestFinished }) => {
    const server = new Server(await freePort());
    await server.start();
    const children: Child[] = [];
    onTestFinished(async () => {
      for (const child of children) child.kill("SIGKILL");
      await server.stop();
    });
    const started = (name: string, args: readonly string[], node = NODES[0]!): Child => {
      const child = startChild(name, node, args);
      children.push(child);
      return child;
    };
    const startedAtMs = performance.now();
    const outage = (name: string): string => path.join(root, "tooling/outage", name);
    const greeter = greeterScript();
    const informers = NODES.map((node) => started("the informer", [outage("informer.ts"), server.url], node));
    const electors = NODES.map((node, index) =>
      started("the elector", [outage("elector.ts"), server.url, `again-${index}`, "again", ...LEASE], node),
    );
    const once = NODES.map((node, index) =>
      started("the leader", [outage("elector.ts"), server.url, `once-${index}`, ...LEASE], node),
    );
    const greeters = NODES.map((node) => started("the README's controller", [greeter, server.url], node));
    const controllers = ["cronjob", "garbage-collector", "podgc", "ttl-after-finished"].map((name) =>
      started(name, [outage("controller.ts"), server.url, name]),
    );
    await server.defineGreetings();
    await server.createMap("before");
    await server.createGreeting("before");
    await Promise.all(informers.map((child) => child.waitForOutput(/added before/)));
    await Promise.all([...electors, ...once].map((child) => child.waitForOutput(/leads/)));
    await server.greeted("before");
    const startTookMs = performance.now() - startedAtMs;

    await server.stop();
    // Every program logs the outage; repeated equal errors are one line.
    await Promise.all(
      [...informers, ...greeters, ...controllers].map((child) => child.waitForOutput(/^E.*ECONNREFUSED/m)),
    );
    await Promise.all(
      [...electors, ...once].map((child) => child.waitForOutput(/^W.*"Failed to acquire or renew lease"/m)),
    );
    await sleep(OUTAGE_MS);
    const losers = HEAVY ? once : [];
    expect(children.filter(({ ended }) => ended !== undefined).map(({ name }) => name)).toEqual(
      losers.map(({ name }) => name),
    );
    // A program that lost its Lease exits with an error, not as after a regular stop.
    for (const child of losers) {
      expect(child.ended).toBe(1);
      expect(child.stderr).toMatch(/^E.*"Failed to renew lease"/m);
      expect(child.stderr).toContain("Error: failed to renew lease default/once-");
    }

    const backMs = Date.now();
    await server.start();
    await server.createMap("after");
    await server.createGreeting("after");
    await Promise.all(informers.map((child) => child.waitForOutput(/added after/)));
    await server.greeted("after");
    const leaders = [...electors, ...(HEAVY ? [] : once)];
    await until(async () => expect(await server.leadersSince(backMs)).toHaveLength(leaders.length));
    for (const child of leaders) expect(child.stdout).toBe(HEAVY ? "leads\nstopped\nleads\n" : "leads\n");

    const living = children.filter((child) => !losers.includes(child));
    expect(living.filter(({ ended }) => ended !== undefined)).toEqual([]);
    for (const child of living) child.kill("SIGTERM");
    const killedAtMs = performance.now();
    const exits = await Promise.all(living.map(async (child) => [child.name, await child.exit]));
    // Programs without a signal handler are ended by the signal. All others stop gracefully.
    expect(exits).toEqual(living.map((child) => [child.name, informers.includes(child) ? "SIGTERM" : 0]));
    // Five seconds may be too short on a busy machine. The limit is then the duration of the start.
    expect(performance.now() - killedAtMs).toBeLessThan(Math.max(5_000, startTookMs));
  },
);
