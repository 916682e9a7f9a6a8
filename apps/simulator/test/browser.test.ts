import { createHash } from "node:crypto";
import type { Server } from "node:http";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Browser, browserPath, launchBrowser, type Page } from "../../../tooling/browser/chromium.js";
import type {
  SimulationRequestOptions,
  SimulationRequest,
  SimulationResult,
} from "../../../packages/analysis/src/browser/index.js";
import { bundle, serveBundle } from "./browser-site.js";
import { kubewright } from "./memory-io.js";

/**
 * Maximum compressed size of the code that a simulation needs at first. The site also loads its editor and the page.
 */
const MOST_BYTES = 406_000;

test("what is bundled for a browser imports nothing of Node and makes no code of texts, and what most need of it is small", async () => {
  const { outputFiles, metafile } = await bundle();
  for (const { text } of outputFiles) {
    expect(/["']node:\w+["']|\brequire\(/.exec(text)?.[0]).toBeUndefined();
    expect(/\bnew Function\(/.exec(text)?.[0]).toBeUndefined();
  }
  const outputs = new Map(Object.entries(metafile!.outputs).map(([file, output]) => [path.basename(file), output]));
  const needed = new Set(["index.js"]);
  for (const name of needed)
    for (const imported of outputs.get(name)!.imports)
      if (imported.kind === "import-statement") needed.add(path.basename(imported.path));
  const sizes = [...needed].map(
    (name) => gzipSync(outputFiles.find((file) => path.basename(file.path) === name)!.contents).length,
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_BYTES);
});

const cronJob = (name: string, schedule: string, more = ""): string => `apiVersion: batch/v1
kind: CronJob
metadata: { name: ${name} }
spec:
  schedule: "${schedule}"${more}
  jobTemplate:
    spec:
      backoffLimit: 2
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: "5m..90m", sim.kubewright.dev/exit-code: "0.2" } }
        spec:
          restartPolicy: Never
          containers: [{ name: main, image: busybox }]
`;

const MANIFESTS = [
  cronJob("night", "30 2 * * *", "\n  timeZone: Europe/Berlin"),
  cronJob("hourly", "0 * * * *", "\n  concurrencyPolicy: Forbid"),
].join("---\n");

/** Has a rule that names a missing field. */
const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: backups.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: backups, singular: backup, kind: Backup, listKind: BackupList }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: { days: { type: integer, maximum: 1000 } }
              x-kubernetes-validations: [{ rule: "self.days < most" }]
`;

const SCENARIO = `apiVersion: sim.kubewright.dev/v1
kind: Scenario
events:
  - at: +6h
    for: 3h
    controllerDown: cronjob-controller
`;

const SHARING = `apiVersion: sim.kubewright.dev/v1
kind: Scenario
controllerManagers: 2
controllers: { sharding: true }
events:
  - at: +20m
    for: 1m
    controllerDown: controller-manager-1
`;

interface Answer<T> {
  readonly result?: T;
  readonly error?: string;
  readonly shares: readonly number[];
  readonly tookMs: number;
}

describe.skipIf(browserPath === undefined)("in a worker of a browser, under a policy without eval", () => {
  let server: Server;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const site = await serveBundle();
    ({ server } = site);
    browser = await launchBrowser();
    page = await browser.newPage();
    await page.goto(site.url);
  });
  afterAll(async () => {
    await browser.close();
    server.close();
  });

  /** @param cancelAt - Simulated share at which the worker is asked to stop. */
  const ask = <T>(
    name: string,
    request: SimulationRequest,
    options: SimulationRequestOptions = {},
    cancelAt?: number,
  ): Promise<Answer<T>> =>
    page.evaluate((message) => (globalThis as unknown as { ask(message: unknown): Promise<never> }).ask(message), {
      name,
      request,
      options,
      cancelAt,
    });

  test("the trace of a seed is that of Node, by the byte", async () => {
    const options = { timeZoneData: "test" };
    for (const [request, flags] of [
      [{ for: "2d", start: "2026-03-28T00:00:00Z", seed: 7 }, ["--start", "2026-03-28T00:00:00Z", "--seed", "7"]],
      [
        { for: "2d", start: "2026-01-01T00:00:00Z", scenario: SCENARIO, timeZone: "Asia/Tokyo" },
        ["--start", "2026-01-01T00:00:00Z", "--scenario", "s.yaml", "--controller-time-zone", "Asia/Tokyo"],
      ],
      [
        { for: "1h", start: "2026-01-01T00:00:00Z", scenario: SHARING },
        ["--start", "2026-01-01T00:00:00Z", "--scenario", "sharing.yaml"],
      ],
    ] as const) {
      const { result, error } = await ask<string>("trace", { manifests: MANIFESTS, ...request }, options);
      expect(error).toBeUndefined();
      const { stdout, code } = await kubewright(["run", "m.yaml", "--for", request.for, "--json", "-", ...flags], {
        files: { "m.yaml": MANIFESTS, "s.yaml": SCENARIO, "sharing.yaml": SHARING },
      });
      expect(code).toBe(0);
      expect(result!.length).toBeGreaterThan(2_000);
      expect(sha256(result!)).toBe(sha256(stdout));
    }
  });

  test("it reports progress, and stops on request", async () => {
    const request = { manifests: MANIFESTS, for: "7d" };
    const { result, shares, tookMs } = await ask<SimulationResult>("runSimulation", request);
    console.log(`a week of 7 and 168 runs in a worker: ${Math.round(tookMs)} ms`);
    expect(result!.report!.groups.map(({ rows }) => rows.length)).toEqual([7, 168]);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBe(1);
    expect(shares.length).toBeGreaterThan(100);
    const stopped = await ask<SimulationResult>("runSimulation", { ...request, for: "3650d" }, {}, 0.001);
    expect(stopped.error).toMatch(/^AbortError: /);
    expect(stopped.shares.at(-1)).toBeLessThan(0.5);
  });

  test("definitions of resources are checked as in Node, once the expression evaluator is loaded", async () => {
    const manifests = [MANIFESTS, DEFINITION].join("---\n");
    const { result, error } = await ask<SimulationResult>("runSimulation", { manifests, for: "1h" });
    expect(error).toBeUndefined();
    const { stderr } = await kubewright(["run", "manifests.yaml", "--for", "1h"], {
      files: { "manifests.yaml": manifests },
    });
    const [problem] = result!.problems;
    expect(problem).toMatchObject({ document: "manifests", object: "CustomResourceDefinition backups.example.com" });
    expect(stderr).toContain(problem!.message.split("\n", 1)[0]);
    expect(problem!.message).toContain("undeclared reference");
  });

  test("mistakes have their places, also in a scenario", async () => {
    const { result, error } = await ask<SimulationResult>("runSimulation", {
      manifests: cronJob("a", "0 25 * * *"),
      scenario: SCENARIO.replace("at:", "att:"),
    });
    expect(error).toBeUndefined();
    expect(result!.report).toBeUndefined();
    expect(
      result!.problems.map(({ document, line, column, endColumn }) => ({ document, line, column, endColumn })),
    ).toEqual([
      { document: "manifests", line: 5, column: 13, endColumn: 25 },
      { document: "scenario", line: 4, column: 5, endColumn: 8 },
      { document: "scenario", line: 4, column: 5, endColumn: 8 },
    ]);
  });
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
