import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import Ajv04 from "ajv-draft-04";
import addFormats from "ajv-formats";
import ICAL from "ical.js";
import { expect, test } from "vitest";
import { validateXML } from "xmllint-wasm";

import { type CommandResult, kubewright } from "./memory-io.js";

const HOUR = 3_600_000;

/** Two CronJobs whose schedules contain characters of Markdown. One skips runs, the other is punctual. */
const manifests = `
apiVersion: batch/v1
kind: CronJob
metadata: { name: slow, namespace: billing }
spec:
  schedule: "0 * * * *"
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 600
  jobTemplate:
    spec:
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: 90m } }
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: punctual }
spec:
  schedule: "30 * * * *"
  jobTemplate:
    spec:
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: 5m } }
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;
const RULES = "skipped,punctual:failed,peak-pods>1";

function run(
  flags: readonly string[],
  files: Record<string, string> = { "jobs/a b.yaml": manifests },
): Promise<CommandResult> {
  return kubewright(["run", Object.keys(files)[0]!, "--for", "6h", ...flags], { files });
}

async function xmlProblems(xml: string): Promise<readonly string[]> {
  const schema = readFileSync(new URL("junit.xsd", import.meta.url), "utf8");
  const { errors } = await validateXML({ xml: [{ fileName: "junit.xml", contents: xml }], schema: [schema] });
  return errors.map(({ message }) => message);
}

const sarifFile = createRequire(import.meta.url).resolve("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");
const ajv = new Ajv04.default({ strict: false, unicodeRegExp: false });
addFormats.default(ajv);
const isSarif = ajv.compile(JSON.parse(readFileSync(sarifFile, "utf8")) as object);

interface Sarif {
  readonly runs: readonly {
    readonly results: readonly {
      readonly ruleId: string;
      readonly level: string;
      readonly message: { readonly text: string };
      readonly locations?: readonly {
        readonly physicalLocation?: { readonly artifactLocation: { readonly uri: string }; readonly region: object };
        readonly logicalLocations?: readonly { readonly fullyQualifiedName: string }[];
      }[];
    }[];
  }[];
}

function sarifOf({ written }: CommandResult): Sarif["runs"][number]["results"] {
  const sarif = JSON.parse(written["r.sarif"]!) as Sarif;
  expect(isSarif(sarif), JSON.stringify(isSarif.errors)).toBe(true);
  return sarif.runs[0]!.results;
}

test("a JUnit file has a test for each rule of each CronJob, with violations as failures", async () => {
  const { code, written } = await run(["--junit", "r.xml", "--fail-on", RULES]);
  expect(code).toBe(1);
  const xml = written["r.xml"]!;
  expect(await xmlProblems(xml)).toEqual([]);
  expect(xml).toContain('<testsuites name="kubewright: 6h from 2026-01-01T00:00:00Z, seed 1" tests="4" failures="2"');
  expect(xml).toContain('<testsuite name="billing/slow" tests="1" failures="1"');
  expect(xml).toContain('<testsuite name="default/punctual" tests="2" failures="0"');
  expect(xml).toMatch(
    /<testcase name="skipped" classname="billing\/slow" time="0">\s*<failure message="skipped: billing\/slow at 2026-01-01T01:00:00Z/,
  );
  expect(xml).toMatch(
    /<testcase name="peak-pods&gt;1" classname="all" time="0">\s*<failure message="[^"]*2 pods at once"/,
  );
});

test("without rules every CronJob has one passing test", async () => {
  const { code, written } = await run(["--junit", "r.xml"]);
  expect(code).toBe(0);
  expect(await xmlProblems(written["r.xml"]!)).toEqual([]);
  expect(written["r.xml"]).toContain('<testcase name="played" classname="default/punctual"');
});

test("a SARIF file puts violations and highlights at the schedules in the manifests", async () => {
  const results = sarifOf(await run(["--sarif", "r.sarif", "--fail-on", RULES]));
  const skipped = results.find(({ ruleId }) => ruleId === "skipped")!;
  expect(skipped.level).toBe("error");
  expect(skipped.locations).toEqual([
    {
      physicalLocation: { artifactLocation: { uri: "jobs/a%20b.yaml" }, region: { startLine: 6, startColumn: 13 } },
      logicalLocations: [{ fullyQualifiedName: "billing/slow", kind: "resource" }],
    },
  ]);
  expect(results.find(({ ruleId }) => ruleId === "highlights")).toMatchObject({
    level: "note",
    message: { text: expect.stringContaining("billing/slow: 3 runs skipped") as string },
  });
  expect(results.find(({ ruleId }) => ruleId === "peak-pods")!.locations).toBeUndefined();
});

test("many futures, and a comparison, write the same kinds of files", async () => {
  const flags = ["--sarif", "r.sarif", "--junit", "r.xml", "--markdown", "r.md"];
  const many = await run([...flags, "--seeds", "1-3", "--fail-on", "skipped"]);
  expect(sarifOf(many)[0]!.message.text).toContain("in 3 of 3 futures");
  expect(await xmlProblems(many.written["r.xml"]!)).toEqual([]);
  expect(many.written["r.md"]).toContain("| CronJob or Job | what happens | in a future | of slots | worst |");
  const files = { "a.yaml": manifests, "b.yaml": manifests.replace("30 * * * *", "45 * * * *") };
  const two = await run([...flags, "--against", "b.yaml", "--fail-on", "changed"], files);
  expect(sarifOf(two)[0]).toMatchObject({
    ruleId: "changed",
    message: { text: expect.stringContaining("12 runs differ") as string },
  });
  expect(sarifOf(two)[0]!.locations![0]!.physicalLocation!.artifactLocation.uri).toBe("b.yaml");
  expect(await xmlProblems(two.written["r.xml"]!)).toEqual([]);
  expect(two.written["r.md"]).toContain('- `CronJob default/punctual spec.schedule`: `"30 * * * *"` → `"45 * * * *"`');
  expect(two.written["r.md"]).toContain("| slot | before | after |");
});

test("a comment for a pull request has violations, highlights and the table, and no injected markup", async () => {
  const odd = manifests
    .replace("image: busybox", 'image: "<img src=x onerror=alert(1)>|@everyone"')
    .replace("90m", "90m");
  const { written } = await run(["--markdown", "r.md", "--fail-on", "skipped"], { "a.yaml": odd });
  const markdown = written["r.md"]!;
  expect(markdown).toMatch(
    /^### kubewright: 6h from 2026-01-01T00:00:00Z, seed 1\n\n\*\*Broken rules\*\*\n\n- skipped: billing\/slow at /,
  );
  expect(markdown).toContain("**Highlights**\n\n- `billing/slow`: 3 runs skipped");
  expect(markdown).toMatch(
    /\| CronJob \| runs \| ok \| skipped \|.*\n\|( --- \|)+\n\| billing\/slow \| 3 \| 3 \| 3 \|/,
  );
  expect(markdown).not.toContain("<img");
});

test("a calendar has every run that was started, with its length", async () => {
  const { code, written } = await run(["--ics", "r.ics"]);
  expect(code).toBe(0);
  const calendar = new ICAL.Component(ICAL.parse(written["r.ics"]!) as unknown[] as never);
  const events = calendar.getAllSubcomponents("vevent").map((event) => new ICAL.Event(event));
  const slow = events.filter(({ summary }) => summary === "billing/slow");
  expect(events).toHaveLength(3 + 6);
  expect(slow[0]!.startDate.toJSDate().toISOString()).toBe("2026-01-01T00:00:00.000Z");
  expect(slow[0]!.duration.toSeconds() * 1000).toBeGreaterThanOrEqual(1.5 * HOUR);
  expect(slow[0]!.description).toMatch(/^slow-\d+: Complete, took 1h30m/);
  expect((await run(["--ics", "r.ics"])).written).toEqual(written);
});

test("an incomplete run writes none of them", async () => {
  const files = {
    "a.yaml": `${manifests}---\napiVersion: v1\nkind: ResourceQuota\nmetadata: { name: bad }\nspec: { hard: { pods: -1 } }\n`,
  };
  const flags = ["--sarif", "r.sarif", "--junit", "r.xml", "--markdown", "r.md", "--ics", "r.ics"];
  const { code, written } = await run(flags, files);
  expect({ code, written }).toEqual({ code: 2, written: {} });
});

test("one file for two flags is refused", async () => {
  const { code, stderr } = await run(["--junit", "r.xml", "--sarif", "r.xml"]);
  expect(code).toBe(2);
  expect(stderr).toContain("--sarif: r.xml is already in use by this command; name another file");
});
