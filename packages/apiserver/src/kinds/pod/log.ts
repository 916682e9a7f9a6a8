import type { ContainerState, ContainerStatus, Pod } from "@kubewright/api";

import type { ApiCall } from "../../api-call.js";
import { badRequest, notFound } from "../../api-error.js";
import { type Reply, textReply } from "../../reply.js";

/**
 * GET of `pods/log`. Nothing runs here, so nothing was written: the answer is one line that says so, with what the
 * container's status tells. Refuses what a kubelet would. Upstream: `pkg/registry/core/pod` LogLocation, kubelet
 * `validateContainerLogStatus`.
 */
export function podLog(call: ApiCall): Reply {
  const { resource, namespace, name } = call.target;
  const stored = resource.storage.get(namespace, name);
  if (stored === undefined) throw notFound(resource, name);
  const pod = stored.object as Pod;
  const container = containerOf(pod, call.query.get("container") ?? "");
  // Like a server that has no node to ask.
  if (!pod.spec?.nodeName) return textReply(200, "", "text/plain");
  const state = loggedState(pod, container, call.query.flag("previous"));
  return textReply(200, `${logLine(container, state)}\n`, "text/plain");
}

/** The container that a request means. @throws ApiError 400 when there is none, or more than one. */
export function containerOf({ metadata, spec }: Pod, asked: string): string {
  const names = (spec?.containers ?? []).map(({ name }) => name);
  const initNames = (spec?.initContainers ?? []).map(({ name }) => name);
  if (asked !== "") {
    const ephemeral = (spec?.ephemeralContainers ?? []).map(({ name }) => name);
    if ([...names, ...initNames, ...ephemeral].includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${metadata.name}`);
  }
  if (names.length === 1) return names[0]!;
  const orInit = initNames.length === 0 ? "" : ` or one of the init containers: [${initNames.join(" ")}]`;
  throw badRequest(
    `a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(" ")}]${orInit}`,
  );
}

function loggedState({ metadata, status }: Pod, container: string, previous: boolean): ContainerState {
  const statuses: readonly ContainerStatus[] = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ];
  const found = statuses.find(({ name }) => name === container);
  const where = `container ${JSON.stringify(container)} in pod ${JSON.stringify(metadata.name)}`;
  const { state = {}, lastState = {} } = found ?? {};
  if (previous) {
    if (lastState.terminated !== undefined) return lastState;
    throw badRequest(`previous terminated ${where} not found`);
  }
  if (state.running !== undefined || state.terminated !== undefined) return state;
  if (lastState.terminated !== undefined) return lastState;
  if (state.waiting === undefined) throw badRequest(`${where} is not available`);
  throw badRequest(`${where} is waiting to start: ${state.waiting.reason ?? ""}`);
}

function logLine(container: string, { running, terminated }: ContainerState): string {
  const simulated = `no output: kubewright runs no containers, ${JSON.stringify(container)} was only simulated`;
  if (terminated === undefined) return `${simulated}; running since ${running?.startedAt ?? "an unknown time"}`;
  const { startedAt, finishedAt, exitCode, reason } = terminated;
  const why = reason ? ` (${reason})` : "";
  return `${simulated}; started ${startedAt ?? UNKNOWN}, ended ${finishedAt ?? UNKNOWN} with exit code ${exitCode}${why}`;
}

const UNKNOWN = "at an unknown time";
