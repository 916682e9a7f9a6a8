import type * as clientNode from "@kubernetes/client-node";
import { expectTypeOf, test } from "vitest";

import type {
  CustomResourceDefinition,
  DeepReadonly,
  Event,
  Job,
  JobSpec,
  List,
  ObjectMeta,
  PodSpec,
  Wire,
} from "./index.js";

test("times are strings, and renamed members carry their wire names", () => {
  expectTypeOf<NonNullable<Job["metadata"]["creationTimestamp"]>>().toEqualTypeOf<string>();
  expectTypeOf<NonNullable<NonNullable<Job["status"]>["startTime"]>>().toEqualTypeOf<string>();
  expectTypeOf<NonNullable<Event["eventTime"]>>().toEqualTypeOf<string>();
  expectTypeOf<List<Job>["metadata"]>().toHaveProperty("continue");
  type Schema = NonNullable<
    NonNullable<CustomResourceDefinition["spec"]["versions"][number]["schema"]>["openAPIV3Schema"]
  >;
  expectTypeOf<Schema>().toHaveProperty("$ref");
  expectTypeOf<Schema>().toHaveProperty("default");
  expectTypeOf<Schema>().toHaveProperty("x-kubernetes-preserve-unknown-fields");
});

test("types are those of @kubernetes/client-node's models, as they are on the wire", () => {
  expectTypeOf<ObjectMeta>().toEqualTypeOf<Wire<clientNode.V1ObjectMeta>>();
  expectTypeOf<JobSpec>().toEqualTypeOf<Wire<clientNode.V1JobSpec>>();
  expectTypeOf<PodSpec>().toEqualTypeOf<Wire<clientNode.V1PodSpec>>();
  expectTypeOf<Job>().toExtend<Wire<clientNode.V1Job>>();
});

test("cached objects cannot be written to", () => {
  const job = {} as DeepReadonly<Job>;
  // @ts-expect-error a cached object is read-only at every depth
  job.metadata.labels = {};
  // @ts-expect-error lists inside it too
  job.metadata.finalizers?.push("x");
});
