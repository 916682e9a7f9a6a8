import { expect, test } from "vitest";

import { learnWorkloads } from "./learn-workloads.js";
import type { Observation } from "./observation.js";
import { workloadsText } from "./workloads-text.js";

const DAY_MS = 86_400_000;
const firstMs = Date.UTC(2026, 4, 1);
const run = (others: Partial<Observation> = {}): Observation => ({
  subject: { kind: "CronJob", namespace: "billing", name: "report" },
  job: "report-29540760",
  exitCode: 0,
  endMs: firstMs,
  durationMs: 300_000,
  ...others,
});
const entriesOf = (runs: readonly Observation[]): string =>
  workloadsText(learnWorkloads(runs)).replace(/^[^]*workloads:\n/, "");

test.each([
  [
    "one run",
    [run()],
    `  # 1 run, 2026-05-01
  - select: { kind: CronJob, namespace: "billing", name: "report" }
    duration: 5m
`,
  ],
  [
    "failures, which end early, do not shorten the work",
    [run(), run({ durationMs: 420_000 }), run({ exitCode: 137, durationMs: 2_000, endMs: firstMs + 7 * DAY_MS })],
    `  # 3 runs, 1 failed, 2026-05-01 to 2026-05-08
  - select: { kind: CronJob, namespace: "billing", name: "report" }
    duration: 5m..7m
    exitCode: { 0: 0.667, 137: 0.333 }
`,
  ],
  [
    "nothing but failures",
    [run({ exitCode: 3 }), run({ exitCode: 3 })],
    `  # 2 runs, 2 failed, 2026-05-01
  - select: { kind: CronJob, namespace: "billing", name: "report" }
    duration: 5m
    exitCode: 3
`,
  ],
  [
    "failures of unknown length",
    [{ ...run({ exitCode: 1, times: 4 }), durationMs: undefined }] as unknown as Observation[],
    `  # 4 runs, 4 failed, it is not known how long they took, 2026-05-01
  - select: { kind: CronJob, namespace: "billing", name: "report" }
    exitCode: 1
`,
  ],
  [
    "runs that are only counted",
    [run({ times: 8 }), run({ exitCode: 1, times: 2 })],
    `  # 10 runs, 2 failed, durations of 1, 2026-05-01
  - select: { kind: CronJob, namespace: "billing", name: "report" }
    duration: 5m
    exitCode: { 0: 0.8, 1: 0.2 }
`,
  ],
  [
    "several containers, each by itself",
    [run({ container: "main" }), run({ container: "agent", durationMs: 360_000 }), run({ durationMs: 1 })],
    `  # 1 run, 2026-05-01
  - select: { kind: CronJob, namespace: "billing", name: "report" }
    container: "agent"
    duration: 6m
  # 1 run, 2026-05-01
  - select: { kind: CronJob, namespace: "billing", name: "report" }
    container: "main"
    duration: 5m
`,
  ],
  [
    "a Job whose name would be a number",
    [run({ subject: { kind: "Job", namespace: "on", name: "123" } })],
    `  # 1 run, 2026-05-01
  - select: { kind: Job, namespace: "on", name: "123" }
    duration: 5m
`,
  ],
])("%s", (_title, runs, expected) => {
  expect(entriesOf(runs)).toBe(expected);
});

test("the order of what was seen makes no difference", () => {
  const runs = ["b", "a", "c"].flatMap((name) =>
    [1, 2, 3].map((minutes) =>
      run({ subject: { kind: "Job", namespace: "x", name }, durationMs: minutes * 60_000, exitCode: minutes % 2 }),
    ),
  );
  expect(entriesOf(runs.toReversed())).toBe(entriesOf(runs));
});
