import {
  type CustomResourceDefinition,
  type DeepReadonly,
  type Job,
  type KubernetesObject,
  apiVersionOf,
  defineResource,
  isConditionTrue,
  newControllerRef,
} from "@kubewright/api";

/** Requests one copy of a volume. */
export interface Backup extends KubernetesObject {
  spec: {
    /** Name of the PersistentVolumeClaim to copy. */
    volume: string;
    image: string;
    /** Maximum duration. Default: unlimited. */
    deadlineSeconds?: number;
  };
  status?: BackupStatus;
}

export interface BackupStatus {
  phase: "Running" | "Complete" | "Failed";
  /** Name of the Job that copies the volume. */
  job: string;
}

export const backups = defineResource<Backup>({
  group: "example.com",
  version: "v1",
  resource: "backups",
  kind: "Backup",
  namespaced: true,
});

/** Returns the Job of a Backup. It has the Backup's name and is deleted with it. */
export function jobOf(backup: DeepReadonly<Backup>): Job {
  const { name, namespace } = backup.metadata;
  const { volume, image, deadlineSeconds } = backup.spec;
  return {
    metadata: {
      name: name!,
      namespace: namespace!,
      ownerReferences: [newControllerRef(backup, { apiVersion: apiVersionOf(backups), kind: backups.kind })],
    },
    spec: {
      ...(deadlineSeconds === undefined ? {} : { activeDeadlineSeconds: deadlineSeconds }),
      template: {
        spec: {
          restartPolicy: "Never",
          containers: [{ name: "copy", image, volumeMounts: [{ name: "data", mountPath: "/data", readOnly: true }] }],
          volumes: [{ name: "data", persistentVolumeClaim: { claimName: volume, readOnly: true } }],
        },
      },
    },
  };
}

/** Returns the status of a Backup from its Job. */
export function statusOf({ metadata, status }: DeepReadonly<Job>): BackupStatus {
  const has = (type: string): boolean => isConditionTrue(status?.conditions, type);
  const phase = has("Complete") ? "Complete" : has("Failed") ? "Failed" : "Running";
  return { phase, job: metadata.name! };
}

export const backupDefinition: CustomResourceDefinition = {
  metadata: { name: "backups.example.com" },
  spec: {
    group: backups.group,
    scope: "Namespaced",
    names: { plural: backups.resource, kind: backups.kind },
    versions: [
      {
        name: backups.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["volume", "image"],
                properties: {
                  volume: { type: "string" },
                  image: { type: "string" },
                  deadlineSeconds: { type: "integer", minimum: 1 },
                },
              },
              status: {
                type: "object",
                properties: {
                  phase: { type: "string", enum: ["Running", "Complete", "Failed"] },
                  job: { type: "string" },
                },
              },
            },
          },
        },
      },
    ],
  },
};
