/** Runs the controller against the cluster of your kubeconfig: `node examples/backups/main.ts`, until Ctrl-C. */
import { customResourceDefinitions } from "@kubewright/api";
import { Client, isAlreadyExists } from "@kubewright/client";
import { realClock, realRandom } from "@kubewright/clock";
import { createHttpTransport, loadKubeConfig } from "@kubewright/transport-http";

import { backupDefinition } from "./backup.ts";
import { backupController } from "./backup-controller.ts";

const { transport, close } = createHttpTransport(await loadKubeConfig({ env: process.env }));
const client = new Client({ transport, clock: realClock, userAgent: "backup-controller" });
try {
  await client.resource(customResourceDefinitions).create(backupDefinition);
} catch (error) {
  if (!isAlreadyExists(error)) throw error;
}
const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
await backupController({ client, clock: realClock, random: realRandom }).run(stop.signal);
await close();
