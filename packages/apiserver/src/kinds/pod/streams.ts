import type { KubernetesObject, Pod } from "@kubewright/api";

import type { ApiCall, Handlers } from "../../api-call.js";
import { badRequest } from "../../api-error.js";
import { type Awaitable, andThen } from "../../awaitable.js";
import type { Query } from "../../query.js";
import type { Reply } from "../../reply.js";
import { containerOf } from "./log.js";
import { storedPod } from "./stored-pod.js";

/**
 * Handlers of `pods/exec`, `pods/attach` and `pods/portforward`. No container runs here, so each request is refused
 * with a message, after admission and after the checks of a kubelet.
 */
export const execHandlers = refuseConnections("PodExecOptions", ({ container: requested }, pod) => {
  const container = containerOf(pod, requested ?? "");
  return `cannot execute a command in container ${JSON.stringify(container)} of pod ${JSON.stringify(pod.metadata.name)}`;
});

export const attachHandlers = refuseConnections("PodAttachOptions", ({ container: requested }, pod) => {
  const container = containerOf(pod, requested ?? "");
  return `cannot attach to container ${JSON.stringify(container)} of pod ${JSON.stringify(pod.metadata.name)}`;
});

export const portForwardHandlers = refuseConnections(
  "PodPortForwardOptions",
  (_options, pod) => `cannot forward ports to pod ${JSON.stringify(pod.metadata.name)}`,
);

/** The options of a connection, as admission receives them. */
interface ConnectionOptions extends KubernetesObject {
  container?: string;
  command?: string[];
  ports?: number[];
  stdin?: true;
  stdout?: true;
  stderr?: true;
  tty?: true;
}

function refuseConnections(kind: string, messageOf: (options: ConnectionOptions, pod: Pod) => string): Handlers {
  const refuse = (call: ApiCall): Awaitable<Reply> =>
    andThen(call.server.admission.connect(call, connectionOptions(kind, call.query)), (options) => {
      const { stored } = storedPod(call, call.target.name);
      const reason =
        call.server.containerLogs === undefined
          ? "kubewright runs no containers, they are only simulated"
          : "kubewright runs no containers, but processes of this machine, which are reached there";
      throw badRequest(`${messageOf(options, stored.object)}: ${reason}`);
    });
  return { get: refuse, create: refuse };
}

/** Upstream: `Convert_url_Values_To_v1_PodExecOptions`, and the conversions of the other options. */
function connectionOptions(kind: string, query: Query): ConnectionOptions {
  const options: ConnectionOptions = { apiVersion: "v1", kind, metadata: {} };
  if (kind === "PodPortForwardOptions") {
    const ports = query
      .getAll("ports")
      .flatMap((text) => text.split(","))
      .map(Number);
    return ports.length === 0 ? options : { ...options, ports };
  }
  for (const stream of ["stdin", "stdout", "stderr", "tty"] as const) if (query.flag(stream)) options[stream] = true;
  const container = query.get("container");
  if (container) options.container = container;
  if (kind === "PodExecOptions") options.command = query.getAll("command");
  return options;
}
