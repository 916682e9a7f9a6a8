import {
  type CustomResourceDefinition,
  type DeepReadonly,
  type Job,
  type KubernetesObject,
  defineResource,
} from "@kubewright/api";
import { type Condition, ownerReference } from "@kubewright/operator";

/** Asks for a volume to be copied once. The copy goes with it. */
export interface Backup extends KubernetesObject {
  spec: {
    /** Name of the PersistentVolumeClaim to be copied. */
    volume: string;
    image: string;
    /** How long it may take. Default: as long as it likes. */
    deadlineSeconds?: number;
  };
  status?: {
    /** Name of the Job that copies. */
    job?: string;
    /** `Complete`: `Unknown` while it runs. */
    conditions?: Condition[];
  };
}

export const backups = defineResource<Backup>({
  group: "example.com",
  version: "v1",
  resource: "backups",
  kind: "Backup",
  namespaced: true,
});

/** A Job of a Backup: one that copies, or one that takes the copy away again. */
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

const text = { type: "string" };

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
                properties: { volume: text, image: text, deadlineSeconds: { type: "integer", minimum: 1 } },
              },
              status: {
                type: "object",
                properties: {
                  job: text,
                  conditions: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["type"],
                    items: {
                      type: "object",
                      required: ["type", "status", "reason", "message", "lastTransitionTime"],
                      properties: {
                        type: text,
                        status: text,
                        reason: text,
                        message: text,
                        lastTransitionTime: { type: "string", format: "date-time" },
                        observedGeneration: { type: "integer", minimum: 0 },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};
