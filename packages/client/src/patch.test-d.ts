import { type Job, type KubernetesObject, type Pod, type UnstructuredObject, jobs, pods } from "@kubewright/api";
import { expectTypeOf, test } from "vitest";

import type { Client, Patch, ResourceClient, Writer } from "./index.js";

declare const client: Client;
const job = client.resource(jobs);
const pod = client.resource(pods);

test("a merge patch sets members of the kind, and removes them with null", () => {
  void job.patch("pi", { type: "merge", body: { spec: { suspend: true }, metadata: { labels: { a: null } } } });
  void job.patch("pi", { type: "merge", body: { spec: { activeDeadlineSeconds: null }, status: { active: 1 } } });
  // @ts-expect-error no such member
  void job.patch("pi", { type: "merge", body: { spec: { suspended: true } } });
  // @ts-expect-error of another type
  void job.patch("pi", { type: "merge", body: { spec: { parallelism: "2" } } });
  // @ts-expect-error directives are of strategic merge patches
  void job.patch("pi", { type: "merge", body: { metadata: { $patch: "delete" } } });
  // @ts-expect-error a merge patch is no list
  void job.patch("pi", { type: "merge", body: [{ op: "remove", path: "/spec" }] });
});

test("a strategic merge patch has parts of list items, and directives", () => {
  void pod.patch("p", { type: "strategic", body: { spec: { containers: [{ name: "c", image: "i" }] } } });
  void pod.patch("p", {
    type: "strategic",
    body: {
      metadata: { "$deleteFromPrimitiveList/finalizers": ["f"], ownerReferences: [{ $patch: "delete", uid: "u" }] },
      spec: { "$setElementOrder/containers": [{ name: "c" }], containers: [{ $patch: "replace" }, { name: "c" }] },
    },
  });
  // @ts-expect-error no such member of a container
  void pod.patch("p", { type: "strategic", body: { spec: { containers: [{ name: "c", images: "i" }] } } });
  // @ts-expect-error labels are no list
  void pod.patch("p", { type: "strategic", body: { metadata: { "$deleteFromPrimitiveList/labels": ["a"] } } });
  // @ts-expect-error no such directive
  void pod.patch("p", { type: "strategic", body: { metadata: { $delete: true } } });
});

test("what is applied says of which kind it is, and removes nothing by null", () => {
  const typed = { apiVersion: "batch/v1", kind: "Job" };
  void job.patch("pi", { type: "apply", body: { ...typed, spec: { suspend: true } } }, { force: true });
  // @ts-expect-error neither apiVersion nor kind
  void job.patch("pi", { type: "apply", body: { spec: { suspend: true } } });
  // @ts-expect-error nothing is applied as null
  void job.patch("pi", { type: "apply", body: { ...typed, spec: { suspend: null } } });
});

test("a JSON patch is a list of operations, each with what it needs", () => {
  void job.patch("pi", { type: "json", body: [{ op: "replace", path: "/spec/suspend", value: true }] });
  // @ts-expect-error nothing to replace it with
  void job.patch("pi", { type: "json", body: [{ op: "replace", path: "/spec/suspend" }] });
  // @ts-expect-error no such operation
  void job.patch("pi", { type: "json", body: [{ op: "delete", path: "/spec/suspend" }] });
});

test("where the type says nothing of an object's content, any patch of it goes", () => {
  expectTypeOf<{ type: "merge"; body: { spec: { anything: 1 } } }>().toExtend<Patch>();
  expectTypeOf<{ type: "merge"; body: { spec: { anything: 1 } } }>().toExtend<Patch<UnstructuredObject>>();
  expectTypeOf<ResourceClient<Job>>().toExtend<Writer<KubernetesObject>>();
  expectTypeOf<Pick<Writer<Pod>, "patch">>().toExtend<Pick<Writer<KubernetesObject>, "patch">>();
});
