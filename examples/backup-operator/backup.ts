import type { DeepReadonly, Job } from "@kubewright/api";
import { type ObjectOf, defineCustomResource, ownerReference } from "@kubewright/operator";
import { z } from "zod";

const condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().min(1),
  message: z.string(),
  lastTransitionTime: z.iso.datetime(),
  observedGeneration: z.int().min(0).optional(),
});

/** Requests one copy of a volume. The copy is deleted with the Backup. */
export const backups = defineCustomResource({
  group: "example.com",
  version: "v1",
  kind: "Backup",
  scope: "Namespaced",
  spec: z.object({
    volume: z.string().min(1).describe("Name of the PersistentVolumeClaim to be copied."),
    image: z.string().min(1).describe("What copies."),
    deadlineSeconds: z.int().min(1).optional().describe("How long it may take. Default: as long as it likes."),
  }),
  status: z.object({
    job: z.string().optional().describe("Name of the Job that copies."),
    conditions: z
      .array(condition)
      .optional()
      .describe("Complete: Unknown while it runs.")
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
  }),
  printerColumns: [{ name: "Complete", type: "string", jsonPath: '.status.conditions[?(@.type=="Complete")].status' }],
});
export type Backup = ObjectOf<typeof backups>;

/** Returns a Job of a Backup, which creates the copy or deletes it. */
export function jobOf(backup: DeepReadonly<Backup>, task: "copy" | "remove"): Job {
  const { name, namespace } = backup.metadata;
  const { volume, image, deadlineSeconds } = backup.spec;
  return {
    metadata: { name: `${name}-${task}`, namespace: namespace!, ownerReferences: [ownerReference(backups, backup)] },
    spec: {
      ...(deadlineSeconds === undefined || task === "remove" ? {} : { activeDeadlineSeconds: deadlineSeconds }),
      template: {
        spec: {
          restartPolicy: "Never",
          containers: [{ name: task, image, args: [task], volumeMounts: [{ name: "data", mountPath: "/data" }] }],
          volumes: [{ name: "data", persistentVolumeClaim: { claimName: volume } }],
        },
      },
    },
  };
}
