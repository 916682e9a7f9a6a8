import { configMaps } from "@kubewright/api";
import type { Client } from "@kubewright/client";
import { formatAssignment, freeAssignment } from "@kubewright/sharding";

/**
 * Creates an assignment without owners, as after a stop of all replicas. New replicas then need not wait until no
 * earlier owner can exist.
 */
export async function createFreeAssignment(client: Client): Promise<void> {
  const metadata = { name: "kubewright-assignment", namespace: "kube-system" };
  const data = { assignment: formatAssignment(freeAssignment) };
  await client.resource(configMaps).create({ metadata, data });
}
