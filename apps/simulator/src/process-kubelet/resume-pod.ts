import { type ContainerStatus, type DeepReadonly, type Pod, formatTime, parseTime } from "@kubewright/api";
import { type BackOff, lengthen } from "@kubewright/cluster/kubelet";

import { containerIdOf } from "./pod-status.js";
import type { ContainerRun, ContainerStage, PodRun } from "./pod-run.js";

/**
 * Returns the initial state of a pod. The state of a pod from an earlier kubelet comes from its status. Its running
 * containers are lost, as after a reboot: containerd reports exit code 255 and `Unknown` for them.
 *
 * @see containerd v2 internal/cri/server/restart.go
 */
export function resumePod(pod: DeepReadonly<Pod>, nowMs: number, wallOffsetMs: number): PodRun {
  const { spec, status } = pod;
  const uid = pod.metadata.uid ?? "";
  const statuses = new Map<string, DeepReadonly<ContainerStatus>>(
    [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].map((each) => [each.name, each]),
  );
  const resumed = (name: string, isSidecar: boolean): ContainerRun => {
    const before = statuses.get(name);
    const restarts = before?.restartCount ?? 0;
    const last = before?.lastState?.terminated;
    const backOff = backOffAfter(restarts, nowMs);
    const container: ContainerRun = {
      name,
      isSidecar,
      state: { name: "created" },
      restarts,
      ...(last === undefined ? {} : { last: { ...last } }),
      ...(backOff === undefined ? {} : { backOff }),
    };
    container.state = stageOf(container, before, { uid, nowMs, wallOffsetMs });
    return container;
  };
  const run: PodRun = {
    uid,
    latest: pod,
    initContainers: (spec?.initContainers ?? []).map(({ name, restartPolicy }) =>
      resumed(name, restartPolicy === "Always"),
    ),
    containers: (spec?.containers ?? []).map(({ name }) => resumed(name, false)),
  };
  const isLost = [...statuses.values()].some(({ state }) => state?.running !== undefined);
  if (isLost && spec?.restartPolicy !== "Never") run.initContainers.forEach(resetForNewSandbox);
  const startMs = parseTime(status?.startTime);
  if (startMs === undefined) return run;
  return { ...run, acceptedAtMs: startMs - wallOffsetMs, startTime: formatTime(startMs) };
}

/**
 * Resets an init container. Init containers run again in a new sandbox, because their results are lost with the old
 * one.
 */
function resetForNewSandbox(container: ContainerRun): void {
  const { state, isSidecar } = container;
  if (state.name !== "exited" || isSidecar) return;
  container.last = state.termination;
  container.restarts++;
  container.state = { name: "created" };
}

function stageOf(
  container: ContainerRun,
  before: DeepReadonly<ContainerStatus> | undefined,
  { uid, nowMs, wallOffsetMs }: { readonly uid: string; readonly nowMs: number; readonly wallOffsetMs: number },
): ContainerStage {
  const { running, terminated, waiting } = before?.state ?? {};
  if (running !== undefined) {
    const termination = {
      exitCode: 255,
      reason: "Unknown",
      startedAt: running.startedAt ?? formatTime(nowMs + wallOffsetMs),
      finishedAt: formatTime(nowMs + wallOffsetMs),
      containerID: before?.containerID ?? containerIdOf({ uid }, container),
    };
    return { name: "exited", termination, exitedAtMs: nowMs };
  }
  const last = terminated ?? (waiting?.reason === "CrashLoopBackOff" ? before?.lastState?.terminated : undefined);
  if (last === undefined) return { name: "created" };
  const finishedMs = parseTime(last.finishedAt);
  return {
    name: "exited",
    termination: { ...last },
    exitedAtMs: finishedMs === undefined ? nowMs : Math.min(nowMs, finishedMs - wallOffsetMs),
  };
}

/**
 * Returns the back-off of a container that was restarted this number of times in quick succession. The status has no
 * more information.
 */
function backOffAfter(restarts: number, nowMs: number): BackOff | undefined {
  let backOff: BackOff | undefined;
  // Five doublings reach the maximum delay.
  for (let restart = 0; restart < Math.min(restarts, 6); restart++) backOff = lengthen(backOff, nowMs, nowMs);
  return backOff;
}
