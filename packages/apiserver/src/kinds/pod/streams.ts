import type { Pod } from "@kubewright/api";

import type { ApiCall } from "../../api-call.js";
import { badRequest } from "../../api-error.js";
import type { Handlers } from "../../served-resource.js";
import { containerOf } from "./log.js";
import { storedPod } from "./stored-pod.js";

/**
 * `pods/exec`, `pods/attach` and `pods/portforward`: nothing runs here that could be talked to. The answer says so in words,
 * after refusing what a kubelet would.
 */
export const execHandlers = refusing((call, pod) => {
  const container = containerOf(pod, call.query.get("container") ?? "");
  return `cannot execute a command in container ${JSON.stringify(container)} of pod ${JSON.stringify(pod.metadata.name)}`;
});

export const attachHandlers = refusing((call, pod) => {
  const container = containerOf(pod, call.query.get("container") ?? "");
  return `cannot attach to container ${JSON.stringify(container)} of pod ${JSON.stringify(pod.metadata.name)}`;
});

export const portForwardHandlers = refusing(
  (_call, pod) => `cannot forward ports to pod ${JSON.stringify(pod.metadata.name)}`,
);

function refusing(what: (call: ApiCall, pod: Pod) => string): Handlers {
  const refuse = (call: ApiCall): never => {
    const { stored } = storedPod(call, call.target.name);
    throw badRequest(`${what(call, stored.object)}: kubewright runs no containers, they are only simulated`);
  };
  return { get: refuse, create: refuse };
}
