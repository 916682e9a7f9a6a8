import { expect, test } from "vitest";

import { kubewright } from "../../test/memory-io.js";

const tick = `
apiVersion: batch/v1
kind: CronJob
metadata: { name: tick }
spec:
  schedule: "* * * * *"
  timeZone: Europe/Berlin
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 10
  jobTemplate:
    spec:
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: 90s } }
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;
const files = { "tick.yaml": tick, "broken.yaml": `${tick}---\nkind: [` };

test("--runs writes a line for every run and every skipped slot, as JSON lines", async () => {
  const { code, written } = await kubewright(["run", "tick.yaml", "--for", "4m30s", "--runs", "runs.jsonl"], { files });
  expect(code).toBe(0);
  const lines = written["runs.jsonl"]!.trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, string>)
    .sort((a, b) => (a["slot"]! < b["slot"]! ? -1 : 1));
  expect(lines[0]).toMatchObject({
    kind: "CronJob",
    namespace: "default",
    name: "tick",
    slot: "2026-01-01T01:00:00+01:00",
    outcome: "Complete",
    lateSeconds: 0,
    podsSucceeded: 1,
  });
  expect(lines.map(({ outcome }) => outcome)).toEqual(["Complete", "Skipped", "Complete", "Skipped", "Running"]);
  expect(lines[1]).toMatchObject({
    reason: "deadlinePassed",
    skipped: 1,
    message: expect.stringMatching(/^tick-\d+ still active/),
  });
});

test("--runs writes CSV with a heading, quoted as spreadsheets read it", async () => {
  const { written } = await kubewright(["run", "tick.yaml", "--for", "3m", "--runs", "runs.csv"], { files });
  const [head, ...lines] = written["runs.csv"]!.trimEnd().split("\n");
  expect(head).toMatch(/^kind,namespace,name,slot,job,outcome,reason,message,/);
  expect(lines[1]).toMatch(/^CronJob,default,tick,2026-01-01T01:00:00\+01:00,tick-\d+,Complete,/);
});

test("--runs leaves the file unchanged when the input has mistakes, and is refused in other modes", async () => {
  const { code, written } = await kubewright(["run", "broken.yaml", "--for", "3m", "--runs", "runs.csv"], { files });
  expect(code).toBe(2);
  expect(written).toEqual({});
  for (const [flags, message] of [
    [["--runs", "runs.txt"], "kubewright: --runs: runs.txt: name a file that ends in .csv or .jsonl\n"],
    [
      ["--runs", "a.csv", "--json", "a.csv"],
      "kubewright: --runs: a.csv is already in use by this command; name another file\n",
    ],
    [["--runs", "a.csv", "--against", "tick.yaml"], "kubewright: --runs lists one run and --against compares two"],
  ] as const) {
    const { code: status, stderr } = await kubewright(["run", "tick.yaml", ...flags], { files });
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  }
});
