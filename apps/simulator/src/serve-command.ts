import { realClock, realRandom, seededRandom } from "@kubewright/clock";
import { type ControllerName, clusterControllers, createCluster } from "@kubewright/cluster";
import { canonicalControllers, controllerListErrors, selectControllers } from "@kubewright/controller";

import type { Io } from "./io.js";
import { kubeconfigFor } from "./kubeconfig.js";
import { parseSeed } from "./run-command.js";
import { UserError } from "./user-error.js";

export interface ServeFlags {
  readonly port: string;
  readonly host: string;
  readonly kubelet: string;
  readonly controllers: string;
  readonly terminatedPodGcThreshold: string;
  readonly seed?: string;
  readonly kubeconfig?: string;
}

/** `kubewright serve`: the embedded cluster over HTTP until the process is told to stop. */
export async function serveCommand(flags: ServeFlags, io: Io): Promise<void> {
  const port = Number(flags.port);
  if (!/^\d{1,5}$/.test(flags.port) || port > 65_535) throw new UserError(`--port: ${JSON.stringify(flags.port)} is not a port number from 0 to 65535`);
  if (flags.kubelet !== "simulated" && flags.kubelet !== "none") {
    throw new UserError(`--kubelet: ${JSON.stringify(flags.kubelet)} is not one of simulated, none`);
  }
  const cluster = createCluster({
    clock: realClock,
    random: flags.seed === undefined ? realRandom : seededRandom(parseSeed(flags.seed)),
    kubelet: flags.kubelet,
    terminatedPodGCThreshold: parseThreshold(flags.terminatedPodGcThreshold),
    controllers: controllersFrom(flags.controllers),
  });
  const listener = await cluster.apiServer.listen({ host: flags.host, port }).catch((error: unknown) => {
    throw new UserError((error as Error).message, { cause: error });
  });
  try {
    if (flags.kubeconfig !== undefined) await writeKubeconfig(flags.kubeconfig, listener.url, io);
    io.stderr.write(`Serving on ${listener.url} (kubelet ${flags.kubelet}). Try: kubectl --server ${listener.url} get jobs,cronjobs,pods\n`);
    await cluster.run(io.stopped);
  } finally {
    await listener.close();
  }
}

function parseThreshold(text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new UserError(`--terminated-pod-gc-threshold: ${JSON.stringify(text)} is not a whole number`);
  return Number(text);
}

async function writeKubeconfig(path: string, url: string, io: Io): Promise<void> {
  try {
    const file = await io.openFile(path);
    await file.write(kubeconfigFor(url));
    await file.close();
  } catch (error) {
    throw new UserError(`--kubeconfig: cannot write ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws UserError naming what is not a controller, and what this cluster does not have. */
function controllersFrom(list: string): readonly ControllerName[] {
  const items = list === "" ? [] : list.split(",");
  const [problem] = controllerListErrors(items);
  if (problem !== undefined) throw new UserError(`--controllers: ${problem}`);
  const { enabled, missing } = selectControllers(Object.keys(clusterControllers) as ControllerName[], canonicalControllers(items));
  if (missing.length > 0) throw new UserError(`--controllers: the embedded cluster has no ${missing.join(", ")}`);
  return enabled;
}
