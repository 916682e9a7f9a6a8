import { behavioursOf, closestVersion, parseServerVersion } from "@kubewright/api";
import { type Client, errorMessage } from "@kubewright/client";
import type { Logger } from "@kubewright/controller";

export interface ManagedBySupportOptions {
  readonly client: Client;
  readonly logger: Logger;
  readonly managedBy: string;
  readonly signal: AbortSignal;
}

/**
 * Warns in one line when this API server drops `spec.managedBy` of Jobs, as servers up to 1.31 do by default. Then no
 * Job is left to this manager, and kube-controller-manager runs them all. A server that does not report its version is
 * accepted.
 */
export async function warnWithoutManagedBy({
  client,
  logger,
  managedBy,
  signal,
}: ManagedBySupportOptions): Promise<void> {
  let server: unknown;
  try {
    ({ gitVersion: server } = (await client.getRaw("/version", signal)) as { readonly gitVersion?: unknown });
  } catch (error) {
    logger.debug({ err: errorMessage(error) }, "The API server does not report its version");
    return;
  }
  const version = typeof server === "string" ? parseServerVersion(server) : undefined;
  if (version === undefined || behavioursOf(closestVersion(version).version).jobManagedBy) return;
  logger.warn(
    { server, managedBy },
    "The API server drops spec.managedBy unless its feature gate JobManagedBy is on, which it is by default from v1.32 on: without it no Job is left to --managed-by, and kube-controller-manager runs them",
  );
}
