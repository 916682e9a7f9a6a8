import { gunzipSync } from "node:zlib";

import { expect, test } from "vitest";
import type { SpreadReport } from "@kubewright/timeline/data";

import { kubewright } from "./memory-io.js";
import { manifest } from "./page-manifests.js";

const pageAssets = async (): Promise<Record<"script" | "style" | "scriptHash" | "styleHash", string>> => ({
  script: "go()",
  style: "p{}",
  scriptHash: "sha256-c2NyaXB0",
  styleHash: "sha256-c3R5bGU=",
});
const SIX = Array.from({ length: 6 }, (_, index) =>
  manifest({ name: `report-${index}`, schedule: "0 * * * *", duration: "5m", cpu: "500m" }),
).join("");

function reportOf(html: string): SpreadReport {
  const [, packed = ""] = /id="report">(.*?)<\/script>/.exec(html)!;
  return JSON.parse(gunzipSync(Buffer.from(packed, "base64")).toString()) as SpreadReport;
}

test("the page has the load by minute, hour and day before and after, for every measure with data", async () => {
  const args = ["spread", "six.yaml", "--start", "2026-01-01T20:00:00Z", "--for", "30h"];
  const files = { "six.yaml": SIX };
  const { code, written, stderr, stdout } = await kubewright([...args, "--html", "load.html"], { files, pageAssets });
  expect([code, stderr]).toEqual([0, ""]);
  const { measures, tables, peakPods, changes, cronJobs } = reportOf(written["load.html"]!);
  expect({ peakPods, changes, cronJobs }).toEqual({ peakPods: { before: 6, after: 1 }, changes: 5, cronJobs: 6 });
  expect(measures.map(({ name }) => name)).toEqual(["starts", "pods", "cpu"]);
  const { before, after } = measures[1]!;
  expect(before.byMinuteOfHour.slice(0, 8)).toEqual([6, 6, 6, 6, 6, 6, 0, 0]);
  expect(after!.byMinuteOfHour.every((level) => level <= 1)).toBe(true);
  expect(before.byHour.map(({ label }) => label).slice(0, 2)).toEqual(["00:00", "01:00"]);
  expect(before.byDay.map(({ label, levels }) => [label, levels.indexOf(6)])).toEqual([
    ["2026-01-01 Thu", 20],
    ["2026-01-02 Fri", 0],
    ["2026-01-03 Sat", 0],
  ]);
  expect(tables.map(({ title }) => title)).toEqual(["Stampedes", "Proposed changes", "Simulated"]);
  expect(stdout).toBe((await kubewright(args, { files })).stdout);
});

test("a page is not written where a manifest is refused, nor over a file that is read", async () => {
  const files = {
    "b.yaml": `${SIX}apiVersion: v1\nkind: ResourceQuota\nmetadata: { name: bad }\nspec: { hard: { pods: -1 } }\n`,
  };
  const refused = await kubewright(["spread", "b.yaml", "--for", "2h", "--html", "load.html"], { files, pageAssets });
  expect([refused.code, refused.written]).toEqual([2, {}]);
  const over = await kubewright(["spread", "b.yaml", "--html", "b.yaml"], { files, pageAssets });
  expect([over.code, over.stderr]).toEqual([
    2,
    "kubewright: --html: b.yaml is already in use by this command; name another file\n",
  ]);
});
