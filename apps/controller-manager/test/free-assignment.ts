import { configMaps } from "@kubewright/api";
import type { Client } from "@kubewright/client";
import { formatAssignment, freeAssignment } from "@kubewright/sharding";

/** The assignment as it is when all replicas have stopped: who comes need not wait until nobody can have anything. */
export async function createFreeAssignment(client: Client): Promise<void> {
  const metadata = { name: "kubewright-assignment", namespace: "kube-system" };
  const data = { assignment: formatAssignment(freeAssignment) };
  await client.resource(configMaps).create({ metadata, data });
}
