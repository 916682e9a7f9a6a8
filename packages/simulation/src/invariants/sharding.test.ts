import type { KubernetesObject } from "@kubewright/api";
import { allBuckets, formatAssignment, freeAssignment } from "@kubewright/sharding";
import { expect, test } from "vitest";

import { History, START_MS } from "../../test/history.js";
import type { FaultPlan } from "../fault-plan.js";
import type { ObservedRequest } from "../world.js";
import { shardingInvariants } from "./built-in.js";
import { everyBucketHasOwner } from "./sharding.js";

const shared: Partial<FaultPlan> = { controllerManagers: 2, controllers: { sharding: true } };
const namespace = "default";
const assigned = (owner: string, epoch: number): KubernetesObject => {
  const entries = freeAssignment.entries.map((entry) => (owner === "" ? { ...entry, epoch } : { owner, epoch }));
  return {
    kind: "ConfigMap",
    metadata: { namespace: "kube-system", name: "kubewright-assignment", uid: "assignment" },
    data: { assignment: formatAssignment({ ...freeAssignment, entries }) },
  } as KubernetesObject;
};
const leaseOf = (identity: string, holderIdentity = identity): KubernetesObject =>
  ({
    kind: "Lease",
    metadata: { namespace: "kube-system", name: `kubewright-member-${identity}`, uid: identity },
    spec: { holderIdentity },
  }) as KubernetesObject;
const manager = (number: number, incarnation = 1, component = "job-controller"): Partial<ObservedRequest> => ({
  component,
  process: `controller-manager-${number}`,
  incarnation,
});
const sharding = (number: number): Partial<ObservedRequest> => manager(number, 1, "sharding");
const pod = (name: string): KubernetesObject => ({ kind: "Pod", metadata: { namespace, name, uid: name } });
const begun = (): History => {
  const history = new History(shardingInvariants, shared);
  for (const number of [1, 2]) history.store(leaseOf(`controller-manager-${number}-1`), sharding(number));
  history.store(assigned("", 0), sharding(1));
  history.store(assigned("controller-manager-1-1", 1), sharding(1));
  return history;
};

test("only the owner of the bucket may write", () => {
  const history = begun();
  history.store(pod("a"), manager(1));
  expect(history.violations).toEqual([]);
  history.store(pod("b"), manager(2));
  expect(history.violations).toEqual([
    'Pod default/b: is written by job-controller of controller-manager-2, and bucket 53 is "controller-manager-1-1"\'s',
  ]);
});

test("controllers of a bucket are begun once in an epoch", () => {
  const history = begun();
  history.store(pod("a"), manager(1, 4));
  history.store(pod("b"), manager(1, 5));
  expect(history.violations).toEqual([
    "Pod default/b: is written by two lives of job-controller in one epoch of bucket 53",
  ]);
});

test("no manager takes a bucket from a member that holds its Lease, and a fenced Lease has no holder", () => {
  const history = begun();
  history.store(leaseOf("controller-manager-1-1", ""), sharding(2));
  history.store(assigned("controller-manager-2-1", 2), sharding(2));
  expect(history.violations).toEqual([]);
  history.store(assigned("controller-manager-1-1", 3), sharding(1));
  expect(history.violations).toContain(
    "bucket 53: is taken from controller-manager-2-1, which has its Lease, by controller-manager-1-1",
  );
});

test("an epoch is never left out", () => {
  const history = begun();
  history.store(assigned("", 1), sharding(1));
  history.store(assigned("controller-manager-2-1", 4), sharding(2));
  expect(history.violations).toContain('bucket 53: goes from epoch 1 to 4 with "controller-manager-2-1"');
});

test("a bucket without an active manager is reported", () => {
  const history = begun();
  for (let tick = 0; tick < 20; tick++) history.pass(5_000);
  expect(history.violations).toEqual([]);
  history.pass(5_000);
  expect(history.violations).toContain("bucket 53: has been unowned for 105 s");
  expect(history.violations).toHaveLength(65);
});

test("at rest a bucket is worked for by one, once what has gone wrong is over for as long as a hand-over takes", () => {
  const atRest = (healedMs: number): readonly string[] => {
    const history = begun();
    const active = { buckets: allBuckets.map((bucket) => ({ bucket, state: bucket === 53 ? "active" : undefined })) };
    history.shardStatuses = { "controller-manager-1": active, "controller-manager-2": active } as never;
    history.nowMs += 200_000;
    history.healedMs = healedMs;
    history.rest();
    return history.violations;
  };
  expect(atRest(START_MS)).toEqual([
    "bucket 53: is worked for by controller-manager-1 and controller-manager-2 at rest",
  ]);
  expect(atRest(START_MS + 150_000)).toEqual([]);
  expect(atRest(START_MS + 300_000)).toEqual([]);
});

/** All buckets become free; one manager renews its Lease every 5 s, with these statuses of its requests. */
function freeFor(
  seconds: number,
  statusAt: (second: number) => number = () => 200,
  name = "kubewright-member-controller-manager-1-1",
): readonly string[] {
  const history = new History(everyBucketHasOwner, shared);
  history.store(leaseOf("controller-manager-1-1"), sharding(1));
  history.store(assigned("controller-manager-1-1", 1), sharding(1));
  history.store(assigned("", 1), sharding(1));
  const renewal = {
    component: "sharding",
    process: "controller-manager-1",
    resource: "leases.coordination.k8s.io",
    name,
  };
  for (let second = 0; second <= seconds; second += 5) {
    history.answer({ ...renewal, code: statusAt(second) });
    history.pass(5_000);
  }
  return history.violations;
}

test("a bucket without an owner is reported after a minute in which a manager renewed its Lease", () => {
  expect(freeFor(60)).toEqual([]);
  expect(freeFor(65)).toContain("bucket cluster: has had no owner for 65 s");
});

test("a bucket may be without an owner while no manager is answered, or none renews its Lease", () => {
  expect(freeFor(120, (second) => (second % 30 === 0 ? 504 : 200))).toEqual([]);
  expect(freeFor(120, () => 200, "kubewright-controller-manager")).toEqual([]);
  const history = new History(everyBucketHasOwner, shared);
  history.store(assigned("", 1), sharding(1));
  for (let tick = 0; tick < 30; tick++) history.pass(5_000);
  expect(history.violations).toEqual([]);
});
