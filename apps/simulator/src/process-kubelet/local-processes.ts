import { isLoopbackHost } from "@kubewright/apiserver/http";
import type { ClusterOptions, KubeletOptions } from "@kubewright/cluster";

import type { Io } from "../io.js";
import type { AccessFlags } from "../serve-access.js";
import { UserError } from "../user-error.js";
import { ContainerLogFiles } from "./container-log-files.js";
import { ProcessKubelet } from "./process-kubelet.js";

export const PROCESSES_WARNING =
  "--kubelet process: any client that may create pods here runs commands on this machine as you; nothing is isolated";

/** Pods that a node takes, as of any kubelet. */
const MAX_PODS = 110;

/** What of a cluster's options has pods run as processes; another one for each cluster. */
export type LocalProcesses = (maxProcesses?: number) => KubeletOptions & Pick<ClusterOptions, "nodes">;

/** @throws UserError where others could have commands run, or nobody can. */
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
    throw new UserError("--kubelet process: this system has no process groups, so processes could not be stopped safely");
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
