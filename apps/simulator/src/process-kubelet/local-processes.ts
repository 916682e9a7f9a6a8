import { isLoopbackHost } from "@kubewright/apiserver/http";
import type { ClusterOptions, KubeletOptions } from "@kubewright/cluster";

import type { Io } from "../io/io.js";
import type { AccessFlags } from "../serve/serve-access.js";
import { UserError } from "@kubewright/analysis/errors";
import { ContainerLogFiles } from "./container-log-files.js";
import { ProcessKubelet } from "./process-kubelet.js";

export const PROCESSES_WARNING =
  "--kubelet process: any client that may create pods here runs commands on this machine as you; nothing is isolated";

/** Maximum number of pods on the node, as for any kubelet. */
const MAX_PODS = 110;

/** Makes the cluster options that run pods as processes. Each cluster needs its own. */
export type LocalProcesses = (maxProcesses?: number) => KubeletOptions & Pick<ClusterOptions, "nodes">;

/** @throws UserError when other users could run commands, or when the flags or the system do not permit processes. */
export async function localProcesses(
  { host, token, tokenFile, allowAnonymous = false, speed }: AccessFlags & { readonly speed: number | "manual" },
  io: Pick<Io, "processHost">,
): Promise<LocalProcesses> {
  if (!isLoopbackHost(host))
    throw new UserError(
      `--kubelet process: other machines could run commands as you at ${host}: leave out --host, or use 127.0.0.1`,
    );
  if (token === undefined && tokenFile === undefined)
    throw new UserError(
      "--kubelet process: any program on this machine could run commands as you: add --token or --token-file",
    );
  if (allowAnonymous)
    throw new UserError("--kubelet process: any client could run commands as you: leave out --allow-anonymous");
  if (speed !== 1) throw new UserError("--kubelet process: processes run in real time: leave out --speed");
  const processHost = await io.processHost?.();
  if (processHost === undefined)
    throw new UserError(
      "--kubelet process: this system has no process groups, so processes could not be stopped safely",
    );
  const { cores, memoryBytes } = processHost;
  const memory = `${Math.floor(memoryBytes / 1024 ** 2)}Mi`;
  return (maxProcesses) => {
    const logs = new ContainerLogFiles();
    return {
      nodes: [{ name: "localhost", cpu: String(cores), memory, pods: MAX_PODS }],
      makeKubelet: (context) =>
        new ProcessKubelet({
          ...context,
          host: processHost,
          logs,
          ...(maxProcesses === undefined ? {} : { maxProcesses }),
        }),
      containerLogs: logs.read,
    };
  };
}
