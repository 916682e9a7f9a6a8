import { type ContainerState, type ContainerStatus, type Pod, parseTime } from "@kubewright/api";

import type { ApiCall } from "../../api-call.js";
import { badRequest, internalError, invalid, notFound } from "../../api-error.js";
import type { ContainerLogOptions } from "../../container-logs.js";
import { FieldErrors } from "../../field-errors.js";
import { type Reply, chunksReply, textReply } from "../../reply.js";

/**
 * GET of `pods/log`. Returns the output of the container when containers are run as processes. When containers are only
 * simulated, returns one line that says so, with the container's status. Refuses what a kubelet refuses.
 *
 * Upstream: `pkg/registry/core/pod` LogLocation, kubelet `validateContainerLogStatus`.
 */
export function podLog(call: ApiCall): Reply {
  const { resource, namespace, name } = call.target;
  const stored = resource.storage.get(namespace, name);
  if (stored === undefined) throw notFound(resource, name);
  const pod = stored.object as Pod;
  const container = containerOf(pod, call.query.get("container") ?? "");
  // Upstream returns an empty log when the pod has no node.
  if (!pod.spec?.nodeName) return textReply(200, "", "text/plain");
  const { containerLogs } = call.server;
  const options = containerLogs === undefined ? undefined : logOptions(call, name);
  const state = loggedState(pod, container, call.query.flag("previous"));
  if (containerLogs !== undefined && options !== undefined) {
    const { ended } = call.server;
    const signals = [ended.signal, ...(call.request.signal === undefined ? [] : [call.request.signal])];
    const chunks = containerLogs(pod, container, options, AbortSignal.any(signals));
    if (chunks === undefined)
      throw internalError(`the server stores no output that container ${JSON.stringify(container)} wrote`);
    return chunksReply(chunks, "text/plain");
  }
  return textReply(200, `${logLine(container, state)}\n`, "text/plain");
}

/**
 * Parses and validates the log options. Upstream: `ValidatePodLogOptions`.
 *
 * @throws ApiError 422 for invalid options
 */
function logOptions({ query, server }: ApiCall, podName: string): ContainerLogOptions {
  const errors = new FieldErrors();
  const tailLines = query.integer("tailLines");
  if (tailLines !== undefined && tailLines < 0)
    errors.invalid("tailLines", tailLines, "must be greater than or equal to 0");
  const limitBytes = query.integer("limitBytes");
  if (limitBytes !== undefined && limitBytes < 1) errors.invalid("limitBytes", limitBytes, "must be greater than 0");
  const sinceSeconds = query.integer("sinceSeconds");
  const sinceTime = query.get("sinceTime") || undefined;
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    errors.forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified");
  else if (sinceSeconds !== undefined && sinceSeconds < 1)
    errors.invalid("sinceSeconds", sinceSeconds, "must be greater than 0");
  if (!errors.isEmpty) throw invalid({ group: "", kind: "PodLogOptions" }, podName, errors);
  const sinceMs = sinceSeconds === undefined ? parseTime(sinceTime) : server.clock.now() - sinceSeconds * 1000;
  if (sinceTime !== undefined && sinceMs === undefined)
    throw badRequest(`sinceTime: ${JSON.stringify(sinceTime)} is no time`);
  return {
    follow: query.flag("follow"),
    previous: query.flag("previous"),
    timestamps: query.flag("timestamps"),
    sinceMs,
    tailLines,
    limitBytes,
  };
}

/**
 * Returns the container that a request refers to.
 *
 * @throws ApiError 400 when the container does not exist, or none is named and the pod has several
 */
export function containerOf({ metadata, spec }: Pod, requested: string): string {
  const names = (spec?.containers ?? []).map(({ name }) => name);
  const initNames = (spec?.initContainers ?? []).map(({ name }) => name);
  if (requested !== "") {
    const ephemeral = (spec?.ephemeralContainers ?? []).map(({ name }) => name);
    if ([...names, ...initNames, ...ephemeral].includes(requested)) return requested;
    throw badRequest(`container ${requested} is not valid for pod ${metadata.name}`);
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
  const reasonText = reason ? ` (${reason})` : "";
  return `${simulated}; started ${startedAt ?? UNKNOWN}, ended ${finishedAt ?? UNKNOWN} with exit code ${exitCode}${reasonText}`;
}

const UNKNOWN = "at an unknown time";
