import { gunzipSync } from "node:zlib";

import { expect, test } from "vitest";
import type { Figure, FuturesReport, ReportData } from "@kubewright/timeline/data";

import { seedCommand } from "@kubewright/analysis/futures";
import { kubewright } from "./memory-io.js";
import { manifest } from "./page-manifests.js";

const pageAssets = async (): Promise<Record<"script" | "style" | "scriptHash" | "styleHash", string>> => ({
  script: "go()",
  style: "p{}",
  scriptHash: "sha256-c2NyaXB0",
  styleHash: "sha256-c3R5bGU=",
});
const BACKUP = manifest({
  name: "backup",
  schedule: "0 * * * *",
  policy: "Forbid",
  more: "startingDeadlineSeconds: 60",
  duration: "30m..62m",
  cpu: "500m",
});

function partsOf(html: string): Map<string, unknown> {
  const found = html.matchAll(/<script type="application\/gzip" id="([\w-]+)">(.*?)<\/script>/g);
  return new Map(
    [...found].map(([, id, packed]) => [
      id!,
      JSON.parse(gunzipSync(Buffer.from(packed!, "base64")).toString()) as unknown,
    ]),
  );
}

test("the page holds the timelines of the seeds that its figures name first, twelve at most", async () => {
  const { code, written, stderr } = await kubewright(
    ["run", "b.yaml", "--for", "6h", "--seeds", "1-20", "--html", "f.html", "--fail-on", "skipped>90%"],
    { files: { "b.yaml": BACKUP }, pageAssets },
  );
  expect([code, stderr]).toEqual([0, ""]);
  const parts = partsOf(written["f.html"]!);
  const report = parts.get("report") as FuturesReport;
  const timelines = [...parts].filter(([id]) => id !== "report");
  expect(report.embedded.length).toBeGreaterThan(1);
  expect(report.embedded.length).toBeLessThanOrEqual(12);
  expect(timelines.map(([id]) => id)).toEqual(report.embedded.map((seed) => `seed-${seed}`));
  expect(timelines.map(([, data]) => (data as ReportData).seed)).toEqual(report.embedded);
  const figures = report.tables
    .flatMap(({ rows }) => rows.flat())
    .filter((cell): cell is Figure => typeof cell === "object");
  const named = figures.flatMap(({ moment }) => (moment === undefined ? [] : [moment.seed]));
  expect(report.embedded).toEqual(expect.arrayContaining(named));
  expect(report.command).toBe("kubewright run b.yaml --start 2026-01-01T00:00:00Z --for 6h");
  expect(report.load.groups[0]!.pods.max).toHaveLength(360);
  expect(written["f.html"]).toContain("<title>kubewright, every future of 2026-01-01 to 2026-01-01</title>");
});

test("the page has what the terminal prints: quotas and nodes without room, namespaces, all runs together", async () => {
  const inNamespace = (namespace: string): string =>
    manifest({ name: "report", namespace, schedule: "*/10 * * * *", duration: "5m..25m", cpu: "500m" });
  const quota = `apiVersion: v1\nkind: ResourceQuota\nmetadata: { name: few, namespace: web }\nspec: { hard: { pods: "1" } }\n---\n`;
  const { written, stdout } = await kubewright(
    ["run", "in.yaml", "--for", "2h", "--seeds", "1-4", "--html", "f.html"],
    { files: { "in.yaml": quota + inNamespace("billing") + inNamespace("web") }, pageAssets },
  );
  const { tables } = partsOf(written["f.html"]!).get("report") as FuturesReport;
  const texts = (title: string): string[][] =>
    tables
      .find((table) => table.title === title)!
      .rows.map((cells) => cells.map((cell) => (typeof cell === "string" ? cell : cell.text)));
  const [refused] = texts("Had no room at first");
  expect(refused![0]).toBe("quota web/few: pods");
  expect(stdout).toContain(`${refused![1]}  ${refused![2]}\n`);
  expect(texts("Most at once by namespace").map(([name]) => name)).toEqual(["billing", "web"]);
  expect(texts("Most at once").map(([name]) => name)).toContain("pods, 95% of the time");
  const [all, ...each] = texts("How long runs take");
  expect(all![0]).toBe("all together");
  expect(Number(all![1])).toBe(each.reduce((sum, [, runs]) => sum + Number(runs), 0));
});

test("simulation and output are the same with the page and without it", async () => {
  const args = ["run", "b.yaml", "--for", "6h", "--seeds", "1-5"];
  const files = { "b.yaml": BACKUP };
  const plain = await kubewright(args, { files });
  const paged = await kubewright([...args, "--html", "f.html"], { files, pageAssets });
  expect(paged.stdout).toBe(plain.stdout);
});

test("a page is not written where a manifest is refused, nor over a file that is read", async () => {
  const files = {
    "b.yaml": `${BACKUP}apiVersion: v1\nkind: ResourceQuota\nmetadata: { name: bad }\nspec: { hard: { pods: -1 } }\n`,
  };
  const args = ["run", "b.yaml", "--for", "2h", "--seeds", "1-2", "--html"];
  const refused = await kubewright([...args, "f.html"], { files, pageAssets });
  expect([refused.code, refused.written]).toEqual([2, {}]);
  const over = await kubewright([...args, "b.yaml"], { files, pageAssets });
  expect([over.code, over.stderr]).toEqual([
    2,
    "kubewright: --html: b.yaml is already in use by this command; name another file\n",
  ]);
});

test("after a stop request it writes its results so far, without timelines", async () => {
  const stop = new AbortController();
  const { code, written } = await kubewright(
    ["run", "b.yaml", "--for", "2h", "--seeds", "1-1000", "--html", "f.html"],
    {
      files: { "b.yaml": BACKUP },
      pageAssets,
      stopped: stop.signal,
      progress: async () => ({
        show: (share) => {
          if (share >= 3 / 1000) stop.abort();
        },
        clear: () => {},
      }),
    },
  );
  expect(code).toBe(130);
  const parts = partsOf(written["f.html"]!);
  expect([...parts.keys()]).toEqual(["report"]);
  const { simulated, embedded } = parts.get("report") as FuturesReport;
  expect(simulated).toBeLessThan(1000);
  expect(embedded).toEqual([]);
});

test("the command for one future has the input flags and nothing else, each as one shell word", () => {
  const flags = {
    seeds: "1-5",
    workers: "2",
    for: "7d",
    duration: ["billing/*=5m..40m", "a=1m"],
    allNamespaces: true,
    fromCluster: false,
    validate: "warn",
    html: "x.html",
  };
  expect(seedCommand(["it's.yaml", "b/"], flags)).toBe(
    "kubewright run 'it'\\''s.yaml' b/ --for 7d -A --duration 'billing/*=5m..40m' --duration 'a=1m' --validate warn",
  );
});

test("rules of the project file about shares of futures do not prevent a run of one seed", async () => {
  const files = {
    "b.yaml": BACKUP,
    ".kubewright.yaml": "input: [b.yaml]\nfor: 2h\nseeds: 1-3\nfailOn: ['skipped>5%', never-finished]\n",
  };
  const { code, stdout, stderr } = await kubewright(["run", "--seed", "2"], { files });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("seed 2");
});
