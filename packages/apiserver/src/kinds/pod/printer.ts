import { isConditionTrue, parseTime, type ContainerStatus, type Pod } from "@kubewright/api";

import type { TablePrinter } from "../../strategy.js";
import { humanDuration } from "../human-duration.js";
import { age, columns } from "../table-cells.js";

/** Upstream: `printPod` in `pkg/printers/internalversion`. */
export const podPrinter: TablePrinter<Pod> = {
  columns: columns("Name", "Ready", "Status", "Restarts", "Age", "IP*", "Node*", "Nominated Node*", "Readiness Gates*"),
  cells(pod, nowMs) {
    const { ready, total, status, restarts } = summary(pod, nowMs);
    return [
      pod.metadata.name ?? "",
      `${ready}/${total}`,
      status,
      restarts,
      age(pod.metadata.creationTimestamp, nowMs),
      pod.status?.podIPs?.[0]?.ip || "<none>",
      pod.spec?.nodeName || "<none>",
      pod.status?.nominatedNodeName || "<none>",
      readinessGatesCell(pod),
    ];
  },
  rowConditions({ status }) {
    if (status?.phase === "Succeeded") {
      return [
        { type: "Completed", status: "True", reason: "Succeeded", message: "The pod has completed successfully." },
      ];
    }
    if (status?.phase === "Failed")
      return [{ type: "Completed", status: "True", reason: "Failed", message: "The pod failed." }];
    return [];
  },
};

/** The restart count of a group of containers, and the time of the last termination before a restart. */
interface Restarts {
  count: number;
  lastMs: number | undefined;
}

function summary(pod: Pod, nowMs: number): { ready: number; total: number; status: string; restarts: string } {
  const { spec, status = {}, metadata } = pod;
  const sidecars = new Set(
    (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name),
  );
  const total = (spec?.containers ?? []).length + sidecars.size;
  let reason = status.reason || status.phase || "";
  const scheduled = status.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.reason === "SchedulingGated") reason = "SchedulingGated";

  const init = walkInitContainers(pod, sidecars);
  let { ready, restarts } = init;
  if (init.reason !== undefined) reason = init.reason;
  if (init.reason === undefined || isConditionTrue(status.conditions, "Initialized")) {
    // Restarts of ordinary init containers are not shown after initialization.
    restarts = init.sidecarRestarts;
    const main = walkContainers(status.containerStatuses ?? [], restarts);
    ready += main.ready;
    if (main.reason !== undefined) reason = main.reason;
    if (reason === "Completed") {
      if (main.hasRunning && isConditionTrue(status.conditions, "Ready")) reason = "Running";
      else if (main.errorReason !== undefined) reason = main.errorReason;
      else if (main.hasRunning) reason = "NotReady";
    }
  }
  if (metadata.deletionTimestamp !== undefined) {
    if (status.reason === "NodeLost") reason = "Unknown";
    else if (status.phase !== "Succeeded" && status.phase !== "Failed") reason = "Terminating";
  }
  return { ready, total, status: reason, restarts: restartsCell(restarts, nowMs) };
}

function walkInitContainers({ spec, status }: Pod, sidecars: ReadonlySet<string>) {
  const restarts: Restarts = { count: 0, lastMs: undefined };
  const sidecarRestarts: Restarts = { count: 0, lastMs: undefined };
  let ready = 0;
  for (const [index, container] of (status?.initContainerStatuses ?? []).entries()) {
    addRestarts(restarts, container);
    const isSidecar = sidecars.has(container.name);
    if (isSidecar) addRestarts(sidecarRestarts, container);
    const { terminated, waiting } = container.state ?? {};
    if (terminated?.exitCode === 0) continue;
    if (isSidecar && container.started) {
      if (container.ready) ready++;
      continue;
    }
    let reason = `Init:${index}/${(spec?.initContainers ?? []).length}`;
    if (terminated !== undefined) reason = `Init:${terminated.reason || exitText(terminated)}`;
    else if (waiting?.reason && waiting.reason !== "PodInitializing") reason = `Init:${waiting.reason}`;
    return { ready, restarts, sidecarRestarts, reason };
  }
  return { ready, restarts, sidecarRestarts, reason: undefined };
}

/** Walks the containers in reverse, so that the reason of the first container wins. */
function walkContainers(statuses: readonly ContainerStatus[], restarts: Restarts) {
  let ready = 0;
  let hasRunning = false;
  let reason: string | undefined;
  let errorReason: string | undefined;
  for (const container of [...statuses].reverse()) {
    addRestarts(restarts, container);
    const { terminated, waiting, running } = container.state ?? {};
    if (waiting?.reason) reason = waiting.reason;
    else if (terminated !== undefined) {
      reason = terminated.reason || exitText(terminated);
      if (terminated.exitCode !== 0) errorReason = reason;
    } else if (container.ready && running !== undefined) {
      hasRunning = true;
      ready++;
    }
  }
  return { ready, hasRunning, reason, errorReason };
}

function exitText({ signal, exitCode }: { signal?: number; exitCode: number }): string {
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

function addRestarts(restarts: Restarts, { restartCount, lastState }: ContainerStatus): void {
  restarts.count += restartCount;
  const finishedMs = parseTime(lastState?.terminated?.finishedAt);
  if (finishedMs !== undefined && finishedMs > (restarts.lastMs ?? Number.NEGATIVE_INFINITY))
    restarts.lastMs = finishedMs;
}

function restartsCell({ count, lastMs }: Restarts, nowMs: number): string {
  return count === 0 || lastMs === undefined ? `${count}` : `${count} (${humanDuration(nowMs - lastMs)} ago)`;
}

function readinessGatesCell({ spec, status }: Pod): string {
  const gates = spec?.readinessGates ?? [];
  if (gates.length === 0) return "<none>";
  const met = gates.filter(({ conditionType }) => isConditionTrue(status?.conditions, conditionType));
  return `${met.length}/${gates.length}`;
}
