import { expect, test } from "vitest";

import { ConsistencyStore } from "./consistency-store.js";

const PODS = { group: "", resource: "pods" };
const JOBS = { group: "batch", resource: "jobs" };
const OWNER = "default/pi";

function setUp(read: { pods?: string; jobs?: string }) {
  const store = new ConsistencyStore({
    stores: [
      { ...PODS, resourceVersion: () => read.pods ?? "" },
      { ...JOBS, resourceVersion: () => read.jobs ?? "" },
    ],
  });
  return { read, store };
}

test("an owner is ready once the cache has observed its writes, and the record is then deleted", () => {
  const { read, store } = setUp({ pods: "104" });
  store.wroteAt(OWNER, "u1", PODS, "105");
  expect(store.ensureReady(OWNER)).toEqual({
    ready: false,
    ...PODS,
    message: "read version: 104 is not as new as written version: 105 for group resource pods",
  });
  read.pods = "105";
  expect(store.ensureReady(OWNER)).toEqual({ ready: true });
  read.pods = "1";
  expect(store.ensureReady(OWNER)).toEqual({ ready: true });
});

test("the resource that lags is named with its group", () => {
  const { store } = setUp({ pods: "200", jobs: "9" });
  store.wroteAt(OWNER, "u1", PODS, "105");
  store.wroteAt(OWNER, "u1", JOBS, "10");
  expect(store.ensureReady(OWNER)).toMatchObject({
    ready: false,
    ...JOBS,
    message: "read version: 9 is not as new as written version: 10 for group resource jobs.batch",
  });
});

test("the highest version written is required, compared as numbers", () => {
  const { read, store } = setUp({ pods: "100" });
  for (const version of ["99", "101", "100"]) store.wroteAt(OWNER, "u1", PODS, version);
  expect(store.ensureReady(OWNER).ready).toBe(false);
  read.pods = "101";
  expect(store.ensureReady(OWNER).ready).toBe(true);
});

test("a version that cannot be compared is replaced by the next", () => {
  const { store } = setUp({ pods: "100" });
  store.wroteAt(OWNER, "u1", PODS, "odd");
  expect(store.ensureReady(OWNER).ready).toBe(true);
  store.wroteAt(OWNER, "u1", PODS, "odd");
  store.wroteAt(OWNER, "u1", PODS, "101");
  expect(store.ensureReady(OWNER).ready).toBe(false);
});

test("another owner UID starts over", () => {
  const { store } = setUp({ pods: "50", jobs: "1" });
  store.wroteAt(OWNER, "u1", JOBS, "105");
  store.wroteAt(OWNER, "u2", PODS, "50");
  expect(store.ensureReady(OWNER).ready).toBe(true);
});

test("clear deletes the record of the given owner UID, or of any UID", () => {
  const { store } = setUp({ pods: "1" });
  store.wroteAt(OWNER, "u1", PODS, "105");
  store.clear(OWNER, "u2");
  expect(store.ensureReady(OWNER).ready).toBe(false);
  store.clear(OWNER, "u1");
  expect(store.ensureReady(OWNER).ready).toBe(true);
  store.wroteAt(OWNER, "u1", PODS, "105");
  store.clear(OWNER);
  expect(store.ensureReady(OWNER).ready).toBe(true);
});

test("a store that knows no version, and a resource without a store, hold nothing back", () => {
  for (const pods of ["", "0"]) {
    const { store } = setUp({ pods });
    store.wroteAt(OWNER, "u1", PODS, "105");
    store.wroteAt(OWNER, "u1", { group: "", resource: "configmaps" }, "105");
    expect(store.ensureReady(OWNER).ready).toBe(true);
  }
});

test("a write of a resource without a store for another owner UID starts over, too", () => {
  const { store } = setUp({ pods: "1" });
  store.wroteAt(OWNER, "u1", PODS, "105");
  store.wroteAt(OWNER, "u2", { group: "", resource: "configmaps" }, "106");
  expect(store.ensureReady(OWNER).ready).toBe(true);
  store.wroteAt(OWNER, "u2", PODS, "107");
  store.wroteAt(OWNER, "u2", { group: "other", resource: "pods" }, "108");
  expect(store.ensureReady(OWNER)).toMatchObject({ message: expect.stringContaining("107") as string });
});
