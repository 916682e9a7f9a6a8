import { readFile } from "node:fs/promises";

import { describe, expect, it, test } from "vitest";

import { checkScenario } from "../scenario/check-scenario.js";
import { checkSchema } from "../scenario/check-schema.js";
import { type ScenarioEventEntry, describeEvents } from "./registry.js";

/** Formats a value as YAML in flow style. */
function yaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(yaml).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return `{ ${Object.entries(value)
    .map(([key, part]) => `${key}: ${yaml(part)}`)
    .join(", ")} }`;
}

const WITHOUT_FOR = { required: "required", untilTheEnd: "until the end", untilUndone: "its effect stays" };

// After a change, write the expected rows to the document, and format it with prettier.
test("the table of events in docs/scenarios.md is the one of the registry", async () => {
  const document = await readFile(new URL("../../../../docs/scenarios.md", import.meta.url), "utf8");
  const [, table = ""] = /\n\| Event +\|.*\n\| -.*\n((?:\|.*\n)+)/.exec(document) ?? [];
  const rows = describeEvents().map(({ kind, description, example, lasts }) => {
    const without = typeof lasts === "object" ? lasts.byDefault : lasts === undefined ? "–" : WITHOUT_FOR[lasts];
    return `| \`${kind}\` | \`${yaml(example)}\` | ${without} | ${description} |`;
  });
  expect(table.trimEnd().replaceAll(/ {2,}/g, " ").split("\n")).toEqual(rows);
});

describe("the example of", () => {
  it.each(describeEvents())("$kind is a valid event", async ({ kind, example, lasts }) => {
    const entry = { at: "+1m", ...(lasts === "required" ? { for: "1m" } : {}), [kind]: example } as ScenarioEventEntry;
    const file = {
      apiVersion: "sim.kubewright.dev/v1",
      kind: "Scenario",
      controllerManagers: 2,
      controllers: { sharding: true },
      events: [entry],
    } as const;
    expect(await checkSchema(file)).toEqual([]);
    const facts = { startMs: 0, durationMs: 3_600_000, objects: [], nodes: [], allowsAbsent: true };
    expect(checkScenario(file, facts)).toEqual([]);
  });
});
