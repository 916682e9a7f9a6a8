import { assert, constantFrom, property, string } from "fast-check";
import { expect, test } from "vitest";

import { kubewright } from "../../test/memory-io.js";
import { matchesName } from "@kubewright/simulation";

const job = (name: string, namespace: string): string =>
  `apiVersion: batch/v1\nkind: Job\nmetadata: { name: ${name}, namespace: ${namespace} }\nspec:\n  backoffLimit: 0\n  template: { spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] } }\n`;
const files = {
  "jobs.yaml": [job("report", "billing"), job("mail", "billing"), job("report", "shop")].join("---\n"),
  "workloads.yaml":
    "apiVersion: sim.kubewright.dev/v1\nkind: Workloads\nworkloads:\n  - select: { name: report }\n    duration: 2m\n  - select: { name: gone }\n    duration: 3m\n",
};
const run = (...args: string[]): ReturnType<typeof kubewright> =>
  kubewright(["run", "jobs.yaml", "--for", "1h", ...args], { files });

test("durations are set on the command line, by name and namespace; the last match counts", async () => {
  const { code, stdout, stderr } = await run(
    "--duration",
    "*=1m",
    "--duration",
    "billing/*=5m",
    "--duration",
    "mail=7m",
  );
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(
    /billing\/report[^]*Complete in 5m1s[^]*billing\/mail[^]*Complete in 7m1s[^]*shop\/report[^]*Complete in 1m1s/,
  );
  expect(stdout).toContain("\nAssumed: containers succeed. Set this with --fail 'NAME=2%', or with --workloads FILE");
});

test("failures are set as a share", async () => {
  const { stdout } = await run("--fail", "billing/report=100%", "--fail", "mail=0");
  expect(stdout).toContain("Jobs  3 run, 2 complete, 1 failed");
  expect(stdout).toContain(
    "\nAssumed: containers run for 10s and succeed (1 of 3 workloads). Set this with --duration",
  );
});

test("a workloads file applies to the workloads that exist", async () => {
  const { code, stdout } = await run("--workloads", "workloads.yaml", "--duration", "shop/*=4m");
  expect(code).toBe(0);
  expect(stdout).toMatch(/billing\/report[^]*Complete in 2m1s[^]*shop\/report[^]*Complete in 4m1s/);
  expect(stdout).toContain("\nAssumed: containers run for 10s (1 of 3 workloads) and succeed. Set this with");
});

test("where neither durations nor failures are given, one line states the assumption", async () => {
  expect((await run()).stdout).toContain(
    "\nAssumed: containers run for 10s and succeed. Set this with --duration 'NAME=5m..40m' and --fail 'NAME=2%', or with --workloads FILE, which kubewright learn writes.\n",
  );
});

test("nothing is assumed where durations and failures are given", async () => {
  const { stdout } = await run("--duration", "*=1m", "--fail", "*=1%");
  expect(stdout).not.toContain("Assumed");
});

test.each([
  [["--duration", "5m"], `--duration: "5m" names nothing; write for example 'billing/*=5m..40m'`],
  [["--duration", "mail=soon"], /^kubewright: --duration: "soon" is not a duration; write for example 5m/],
  [
    ["--duration", "mial=5m"],
    '--duration: "mial=5m" selects nothing; there is billing/report, billing/mail, shop/report',
  ],
  [["--fail", "mail=120%"], '--fail: "120%" is no share from 0% to 100%; write for example 2% or 0.02'],
  [["--fail", "a/b/c=1%"], `--fail: "a/b/c=1%" names nothing; write for example 'report=2%'`],
  [["--workloads", "gone.yaml"], "--workloads: gone.yaml: no such file or folder"],
  [["--workloads", "jobs.yaml"], /^kubewright: jobs\.yaml: holds several documents/],
])("%s is one line and status 2", async (args, message) => {
  const { code, stderr } = await run(...args);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

test("a star matches any characters", () => {
  const piece = string({ unit: constantFrom("a", "b", "*"), maxLength: 8 });
  const name = string({ unit: constantFrom("a", "b"), maxLength: 12 });
  assert(
    property(piece, name, (pattern, text) => {
      const expected = new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(text);
      expect(matchesName(pattern, text)).toBe(expected);
    }),
  );
});
