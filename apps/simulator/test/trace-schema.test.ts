import { readFile, readdir } from "node:fs/promises";
import path from "node:path";

import { Ajv } from "ajv";
import { beforeAll, expect, test } from "vitest";

import { kubewright } from "./memory-io.js";

const root = path.resolve(import.meta.dirname, "../../..");
let validate: ReturnType<Ajv["compile"]>;

beforeAll(async () => {
  const schema = JSON.parse(await readFile(path.join(root, "apps/simulator/trace.schema.json"), "utf8")) as object;
  validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(schema);
});

async function trace(args: readonly string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await kubewright(["run", ...args, "--json", "-"], {
    readFile: (file) => readFile(file, "utf8"),
    listFolder: async (folder) =>
      folder.endsWith(".yaml") ? undefined : (await readdir(folder)).map((name) => ({ name, isFolder: false })),
  });
  expect(code, stderr).toBe(0);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function expectValid(records: readonly Record<string, unknown>[]): void {
  for (const record of records)
    if (!validate(record)) throw new Error(`${JSON.stringify(record)}\n${JSON.stringify(validate.errors, null, 1)}`);
}

test(
  "every line of the examples' trace is as the schema says, and all kinds of lines are among them",
  { timeout: 60_000 },
  async () => {
    const examples = (await readdir(path.join(root, "examples")))
      .filter((name) => name.endsWith(".yaml"))
      .map((name) => path.join(root, "examples", name));
    const records = await trace([...examples, "--for", "1d"]);
    expectValid(records);
    const kinds = new Set(
      records.map(({ type, kind, controller }) => [type, kind, controller].filter(Boolean).join(" ")),
    );
    for (const kind of ["header", "object CronJob", "object Job", "object Pod", "event", "end"])
      expect(kinds).toContain(kind);
    for (const controller of ["cronjob", "job", "ttl-after-finished", "garbage-collector"])
      expect(kinds).toContain(`decision ${controller}-controller`);
  },
);

test("every line of the guided scenarios' traces matches the schema", { timeout: 180_000 }, async () => {
  const folder = path.join(root, "examples/scenarios");
  const scenarios = (await readdir(folder)).filter((name) => name.endsWith(".yaml"));
  expect(scenarios.length).toBeGreaterThan(0);
  let scenarioEvents = 0;
  for (const name of scenarios) {
    const records = await trace(["--scenario", path.join(folder, name)]);
    expectValid(records);
    scenarioEvents += records.filter(({ type }) => type === "scenarioEvent").length;
  }
  expect(scenarioEvents).toBeGreaterThan(0);
});

test.each([
  ["an unknown member", { type: "end", at: "2026-01-01T00:00:00.000Z", more: 1 }],
  ["another kind of line", { type: "start", at: "2026-01-01T00:00:00.000Z" }],
  ["a time that is none", { type: "end", at: "noon" }],
  [
    "an object without its state",
    {
      type: "object",
      at: "2026-01-01T00:00:00.000Z",
      change: "ADDED",
      kind: "Pod",
      namespace: "a",
      name: "b",
      uid: "c",
    },
  ],
])("the schema refuses %s", (_title, record) => {
  expect(validate(record)).toBe(false);
});
