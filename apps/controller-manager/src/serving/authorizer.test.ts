import { StatusError } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { RequestAuthorizer } from "./authorizer.js";
import { ReviewClient, type SubjectAccessReview } from "./review-client.js";

type Answer = SubjectAccessReview["status"] | Error;

/** An authorizer, and the reviews that it sent. */
function bench(answer: (spec: SubjectAccessReview["spec"]) => Answer, alwaysAllowPaths = ["/healthz"]) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const asked: SubjectAccessReview["spec"][] = [];
  const create = async ({ spec }: SubjectAccessReview) => {
    asked.push(spec);
    const status = answer(spec);
    if (status instanceof Error) throw status;
    return { metadata: {}, spec, status };
  };
  const client = { resource: () => ({ create }) } as unknown as ConstructorParameters<typeof ReviewClient>[0]["client"];
  const results: string[] = [];
  const authorizer = new RequestAuthorizer({
    alwaysAllowPaths,
    reviews: new ReviewClient({ client, clock, random: seededRandom(1) }),
    clock,
    authorizedTtlMs: 10_000,
    unauthorizedTtlMs: 5_000,
    metrics: { authorized: (result) => void results.push(result) },
  });
  const authorize = (path: string, username = "jane", groups: string[] = []) =>
    authorizer.authorize({ user: { username, groups }, verb: "get", path });
  return { clock, asked, authorize, results };
}

test("masters may do everything, every user may request the open paths, and neither needs a review", async () => {
  const { authorize, asked } = bench(() => ({ allowed: false }));
  expect(await authorize("/metrics", "root", ["system:masters"])).toEqual({ decision: "allowed", reason: "" });
  expect(await authorize("/healthz", "system:anonymous")).toEqual({ decision: "allowed", reason: "" });
  expect(asked).toEqual([]);
  expect((await authorize("/healthz/ping")).decision).toBe("no-opinion");
});

test("case 39: the open paths given replace the default ones; a trailing star is a prefix", async () => {
  const { authorize, asked } = bench(() => ({}), ["metrics", "/debug/*"]);
  expect((await authorize("/metrics")).decision).toBe("allowed");
  expect((await authorize("/debug/flags/v")).decision).toBe("allowed");
  expect((await authorize("/healthz")).decision).toBe("no-opinion");
  expect((await authorize("/metrics/slis")).decision).toBe("no-opinion");
  expect(asked).toHaveLength(2);
  expect(() => bench(() => ({}), ["/a*b"])).toThrow('only trailing * allowed in "/a*b"');
});

test("an answer is used again for its time, a no as well as a yes", async () => {
  const { authorize, asked, clock, results } = bench(({ user }) =>
    user === "jane" ? { allowed: true } : { denied: true, allowed: true, reason: "because" },
  );
  expect(await authorize("/metrics")).toEqual({ decision: "allowed", reason: "" });
  expect(await authorize("/metrics", "eve")).toEqual({ decision: "denied", reason: "because" });
  await authorize("/metrics");
  await authorize("/metrics", "eve");
  expect(asked).toHaveLength(2);
  await clock.advance(5_000);
  await authorize("/metrics");
  await authorize("/metrics", "eve");
  expect(asked.map(({ user }) => user)).toEqual(["jane", "eve", "eve"]);
  await clock.advance(5_000);
  await authorize("/metrics");
  expect(asked).toHaveLength(4);
  expect(asked[0]).toEqual({ user: "jane", groups: [], nonResourceAttributes: { path: "/metrics", verb: "get" } });
  expect(results).toEqual(["allowed", "denied", "allowed", "denied", "allowed", "denied", "allowed"]);
});

test("many who ask at once are one question, and a question of enormous length is never remembered", async () => {
  const { authorize, asked } = bench(() => ({ allowed: true }));
  await Promise.all(Array.from({ length: 50 }, () => authorize("/metrics")));
  expect(asked).toHaveLength(1);
  for (let time = 0; time < 2; time++) await authorize(`/${"x".repeat(20_000)}`);
  expect(asked).toHaveLength(3);
});

test("an internal error is tried five times with growing pauses, any other once", async () => {
  const failure = (code: number, reason: string) =>
    new StatusError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason, message: "no" });
  const down = bench(() => failure(500, "InternalError"));
  let message = "";
  void down.authorize("/metrics").catch((error: Error) => (message = error.message));
  await down.clock.advance(3_000);
  expect([down.asked.length, message]).toEqual([4, ""]);
  await down.clock.advance(3_000);
  expect([down.asked.length, message]).toEqual([5, "no"]);
  expect(down.results).toEqual(["error"]);
  const forbidden = bench(() => failure(403, "Forbidden"));
  await expect(forbidden.authorize("/metrics")).rejects.toThrow("no");
  expect(forbidden.asked).toHaveLength(1);
});
