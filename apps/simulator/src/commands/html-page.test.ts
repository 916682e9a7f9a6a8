import { gunzipSync } from "node:zlib";

import { expect, test } from "vitest";
import type { ReportData } from "@kubewright/timeline/data";

import { memoryIo } from "../../test/memory-io.js";
import { runCli } from "../cli.js";
import type { Io } from "../io/io.js";

const assets = {
  script: "go()",
  style: "p{}",
  scriptHash: "sha256-c2NyaXB0",
  styleHash: "sha256-c3R5bGU=",
};
const job = (note: string): string => `
apiVersion: batch/v1
kind: Job
metadata: { name: pi, namespace: default, annotations: { note: ${JSON.stringify(note)} } }
spec:
  template:
    metadata: { annotations: { sim.kubewright.dev/duration: 30s } }
    spec: { restartPolicy: Never, containers: [{ name: pi, image: perl, resources: { requests: { cpu: 200m } } }] }
`;

async function run(
  flags: readonly string[],
  { note = "", page = true } = {},
): Promise<{ code: number; said: string; files: Map<string, string> }> {
  const { io, said, written } = memoryIo({
    files: { "job.yaml": job(note) },
    ...(page ? { pageAssets: async () => assets } : {}),
  });
  const openFile: Io["openFile"] = async (path) => {
    if (path.startsWith("/gone/")) throw new Error("ENOENT: no such folder");
    return io.openFile(path);
  };
  const code = await runCli(["run", "job.yaml", "--for", "5m", ...flags], { ...io, openFile }, "0.0.0");
  return { code, said: said.stdout + said.stderr, files: new Map(Object.entries(written)) };
}

const dataOf = (html: string): ReportData =>
  JSON.parse(
    gunzipSync(
      Buffer.from(/<script type="application\/gzip" id="report">(.*?)<\/script>/s.exec(html)![1]!, "base64"),
    ).toString(),
  ) as ReportData;

test("--html writes one page that may run only its own script, with the run as data", async () => {
  const { code, files } = await run(["--html", "report.html"]);
  expect(code).toBe(0);
  const html = files.get("report.html")!;
  expect(html).toContain(
    `content="default-src 'none'; script-src 'sha256-c2NyaXB0'; style-src 'sha256-c3R5bGU='; img-src data:; base-uri 'none'; form-action 'none'"`,
  );
  expect(html).not.toMatch(/\b(?:src|href)="(?!data:)/);
  const data = dataOf(html);
  expect(data.groups.map(({ kind, name }) => `${kind} ${name}`)).toEqual(["Job pi"]);
  expect(data.concurrency.cpuMillis.peak).toContain(200);
  const kinds = Object.values(data.objects).map((object) => (object as { kind: string }).kind);
  expect(kinds.sort()).toEqual(["Job", "Pod"]);
  expect(JSON.stringify(data.objects)).not.toContain("managedFields");
});

test("text of a manifest cannot close the element that contains the data", async () => {
  const note = "</script><script>alert(1)</script><!--";
  const { files } = await run(["--html", "report.html"], { note });
  const html = files.get("report.html")!;
  expect(html).not.toContain("alert(1)</script>");
  expect(html).not.toContain("<!--");
  expect(JSON.stringify(dataOf(html))).toContain("</script><script>alert(1)");
});

test("a report changes neither the trace nor the printed output", async () => {
  const plain = await run(["--json", "trace.jsonl"]);
  const reported = await run(["--json", "trace.jsonl", "--html", "report.html"]);
  expect(reported.files.get("trace.jsonl")).toBe(plain.files.get("trace.jsonl"));
  expect(reported.said).toBe(plain.said);
});

test.each([
  [
    "a file that cannot be written",
    "/gone/report.html",
    true,
    "kubewright: --html: cannot write /gone/report.html: ENOENT: no such folder\n",
  ],
  ["a build without the page", "report.html", false, "kubewright: this build of kubewright has no page\n"],
])("%s is refused before anything runs", async (_title, path, page, message) => {
  expect(await run(["--html", path], { page })).toMatchObject({ code: 2, said: message });
});

test("bars have short IDs in a file, and their manifests have the original UIDs", async () => {
  const { files } = await run(["--html", "report.html"]);
  const { groups, objects } = dataOf(files.get("report.html")!);
  const [row] = groups[0]!.rows;
  if (row?.type !== "run") throw new Error("no run");
  const recorded = [row, ...row.pods].map(({ uid }) => [uid.length, objects[uid] as { metadata: object }] as const);
  expect(recorded.map(([length]) => length)).toEqual([1, 1]);
  expect(recorded.map(([, { metadata }]) => metadata)).toMatchObject([
    { name: "pi", uid: expect.stringMatching(/^.{36}$/) as string },
    { name: row.pods[0]!.name, uid: expect.stringMatching(/^.{36}$/) as string },
  ]);
});
