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

/** Asks for a volume to be copied once. */
export interface Backup extends KubernetesObject {
  spec: {
    /** Name of the PersistentVolumeClaim to be copied. */
    volume: string;
    image: string;
    /** How long it may take. Default: as long as it likes. */
    deadlineSeconds?: number;
  };
  status?: BackupStatus;
}

export interface BackupStatus {
  phase: "Running" | "Complete" | "Failed";
  /** Name of the Job that does it. */
  job: string;
}

export const backups = defineResource<Backup>({
  group: "example.com",
  version: "v1",
  resource: "backups",
  kind: "Backup",
  namespaced: true,
});

/** The Job of a Backup, which has its name and goes with it. */
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

/** What a Backup's Job says of it. */
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
