import { type Backup, backupDefinition, backups } from "../../../examples/backups/backup.ts";
import { backupController } from "../../../examples/backups/backup-controller.ts";
import { type TestCluster, type TestClusterOptions, type TestObject, startTestCluster } from "../src/index.js";

export { backupController, backups };

/** Starts a cluster with the CustomResourceDefinition of Backups. */
export function clusterWithBackups(options: TestClusterOptions = {}): Promise<TestCluster> {
  return startTestCluster({ crds: [backupDefinition], ...options });
}

export function createBackup(cluster: TestCluster, name: string): Promise<TestObject<Backup>> {
  const object = { metadata: { name }, spec: { volume: "data", image: "copy:1" } };
  return cluster.create(backups, object);
}
