import { expectTypeOf, test } from "vitest";

import type { DeepReadonly, Job, List } from "./index.js";

test("times are strings, and renamed members carry their wire names", () => {
  expectTypeOf<NonNullable<Job["metadata"]["creationTimestamp"]>>().toEqualTypeOf<string>();
  expectTypeOf<NonNullable<NonNullable<Job["status"]>["startTime"]>>().toEqualTypeOf<string>();
  expectTypeOf<List<Job>["metadata"]>().toHaveProperty("continue");
});

test("cached objects cannot be written to", () => {
  const job = {} as DeepReadonly<Job>;
  // @ts-expect-error a cached object is read-only at every depth
  job.metadata.labels = {};
  // @ts-expect-error lists inside it too
  job.metadata.finalizers?.push("x");
});
