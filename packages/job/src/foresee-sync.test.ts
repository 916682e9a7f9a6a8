import { expect, test } from "vitest";

import { T0, at, failed, indexed, job, pod, succeeded } from "../test/fixtures.js";
import { foreseeJobSync } from "./foresee-sync.js";
import type { JobObject, PodObject } from "./job-spec.js";

const foresee = (of: JobObject, pods: readonly PodObject[] = [], seconds = 0) =>
  foreseeJobSync(of, pods, T0 + seconds * 1000);

const reasonsOf = (...args: Parameters<typeof foresee>): string[] => {
  const foreseen = foresee(...args);
  return foreseen.type === "planned" ? foreseen.reasons.map(({ type }) => type) : [foreseen.why];
};

test("what a sync would leave alone is told apart", () => {
  expect(foresee(job({ managedBy: "example.com/queue" }))).toMatchObject({
    why: "managedElsewhere",
    detail: "example.com/queue",
  });
  expect(foresee(job({ completions: "3" as unknown as number }))).toMatchObject({
    why: "unreadable",
    detail: 'spec.completions must be an integer, but is "3"',
  });
  expect(reasonsOf(job({ completionMode: "Random" }))).toEqual(["unknownCompletionMode"]);
  const ended = { conditions: [{ type: "Failed", status: "True" }] };
  expect(reasonsOf(job({}, { status: ended }))).toEqual(["finished"]);
});

test("failures that were counted delay the next pod, as long as their pods are there to tell", () => {
  const counted = [failed("a", { tracked: false, finishedAt: 10 }), failed("b", { tracked: false, finishedAt: 30 })];
  const retried = job({ completions: 1 }, { status: { startTime: at(0), failed: 2 } });
  const foreseen = foresee(retried, counted, 35);
  expect(foreseen).toMatchObject({
    reasons: [{ type: "Backoff", failures: 2, remainingMs: 15_000 }],
    wakeMs: T0 + 50_000,
  });
  expect(reasonsOf(retried, counted, 50)).toEqual(["Creating"]);
});

test("a success between failures starts the wait over", () => {
  const pods = [
    failed("a", { tracked: false, finishedAt: 10 }),
    succeeded("b", { tracked: false, finishedAt: 20 }),
    failed("c", { tracked: false, finishedAt: 30 }),
  ];
  const going = job({ completions: 3 }, { status: { startTime: at(0), failed: 2, succeeded: 1 } });
  expect(foresee(going, pods, 31)).toMatchObject({ reasons: [{ type: "Backoff", failures: 1, remainingMs: 9_000 }] });
});

test("the deadline is the next wake-up where it comes before the retry", () => {
  const limited = job({ completions: 1, activeDeadlineSeconds: 60 }, { status: { startTime: at(0) } });
  expect(foresee(limited, [pod("a")], 20)).toMatchObject({ reasons: [{ type: "EnoughActive" }], wakeMs: T0 + 60_000 });
  expect(reasonsOf(limited, [pod("a")], 60)).toEqual(["Ending", "WaitingForTermination"]);
  expect(reasonsOf(limited, [], 60)).toEqual(["Ending", "Finished"]);
});

test("a Job with its completions is about to be complete, once the last pod is gone", () => {
  const done = job({ completions: 1 }, { status: { startTime: at(0) } });
  expect(reasonsOf(done, [succeeded("a")])).toEqual(["EnoughActive", "Ending", "Finished"]);
  expect(reasonsOf(done, [succeeded("a"), pod("b", { deletedAt: 0 })])).toContain("WaitingForTermination");
});

test("a suspended Job deletes its pods and is told as suspended", () => {
  expect(reasonsOf(job({ suspend: true }), [pod("a")])).toEqual(["Suspended"]);
});

test("indexes that wait are named, and pods of others are no business of the Job's", () => {
  const perIndex = indexed(2, { backoffLimitPerIndex: 1 }, { status: { startTime: at(0) } });
  const foreseen = foresee(
    perIndex,
    [pod("a", { index: 0 }), failed("b", { index: 1, finishedAt: 5, failures: 0 })],
    6,
  );
  expect(foreseen).toMatchObject({ reasons: [{ type: "IndexBackoff", indexes: [1], remainingMs: 9_000 }] });
  const stranger = pod("x", { labels: { other: "app" } });
  expect(foresee(job(), [stranger])).toMatchObject({ pods: [] });
});
