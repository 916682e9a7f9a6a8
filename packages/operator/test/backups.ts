import {
  type CustomResourceDefinition,
  type DeepReadonly,
  type Job,
  type KubernetesObject,
  defineResource,
} from "@kubewright/api";

import { type Condition, ownerReference } from "../src/index.js";

/** The custom resource of the tests. */
export interface Backup extends KubernetesObject {
  spec: { volume: string; settings?: string };
  status?: { phase?: string; job?: string; conditions?: Condition[] };
}

export const backups = defineResource<Backup>({
  group: "example.com",
  version: "v1",
  resource: "backups",
  kind: "Backup",
  namespaced: true,
});

export const backupDefinition: CustomResourceDefinition = {
  metadata: { name: "backups.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "backups", kind: "Backup" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

export function jobOf(backup: DeepReadonly<Backup>): Job {
  const { name, namespace } = backup.metadata;
  return {
    metadata: { name: name!, namespace: namespace!, ownerReferences: [ownerReference(backups, backup)] },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "copy", image: "copy:1" }] } } },
  };
}
