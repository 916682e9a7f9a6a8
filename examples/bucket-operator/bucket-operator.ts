import {
  type ObjectOf,
  createOperator,
  defineCustomResource,
  generationChanged,
  setCondition,
} from "@kubewright/operator";
import { z } from "zod";

/** The external service: buckets that are not Kubernetes objects. Calls may fail, and may be repeated. */
export interface BucketService {
  /** Creates the bucket if it does not exist. */
  ensure(bucket: string): Promise<void>;
  /** Starts to delete the bucket's contents. Returns the number of objects left. */
  empty(bucket: string): Promise<number>;
  /** Deletes an empty bucket. A missing bucket is no error. */
  remove(bucket: string): Promise<void>;
}

const condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().min(1),
  message: z.string(),
  lastTransitionTime: z.iso.datetime(),
  observedGeneration: z.int().min(0).optional(),
});

/** Requests a bucket of the external service. The bucket is deleted with its object. */
export const buckets = defineCustomResource({
  group: "example.com",
  version: "v1",
  kind: "Bucket",
  scope: "Namespaced",
  spec: z.object({ purpose: z.string().min(1) }),
  status: z.object({
    bucket: z.string().optional().describe("Name in the external service."),
    conditions: z
      .array(condition)
      .optional()
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
  }),
});
export type Bucket = ObjectOf<typeof buckets>;

/** Pause between two looks at a bucket that is being emptied. */
const EMPTYING_MS = 10_000;

/** Creates an operator of the Buckets in two namespaces. It ignores others. */
export function bucketOperator(service: BucketService) {
  const operator = createOperator({ name: "bucket-operator", namespaces: ["team-a", "team-b"] });
  operator
    .controllerFor(buckets, { predicate: generationChanged })
    .finalizer("example.com/bucket", async ({ name, namespace, events }) => {
      const left = await service.empty(`${namespace}-${name}`);
      if (left > 0) {
        events.normal("Emptying", `${left} objects are left`);
        return { requeueAfterMs: EMPTYING_MS };
      }
      await service.remove(`${namespace}-${name}`);
      return {};
    })
    .reconcile(async ({ object, name, namespace, client, now }) => {
      const bucket = `${namespace}-${name}`;
      await service.ensure(bucket);
      const conditions = setCondition(object, { type: "Ready", status: "True", reason: "Created" }, now);
      await client.patchStatus(buckets, object, { bucket, conditions });
    });
  return operator;
}
