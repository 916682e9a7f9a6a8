import { readFileSync, readdirSync } from "node:fs";
import process from "node:process";

/** Environment variable that marks the processes of one container. Child processes inherit it. */
export const MARK_VARIABLE = "KUBEWRIGHT_CONTAINER_MARK";

/**
 * Sends a signal to all processes with this mark, also to those that have left the container's process group with
 * `setsid`. Processes that have removed the mark from their environment are not found. Only Linux lists environments;
 * elsewhere this has no effect.
 */
export function signalMarked(mark: string, name: "SIGTERM" | "SIGKILL"): void {
  if (process.platform !== "linux") return;
  const entry = `${MARK_VARIABLE}=${mark}`;
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      if (readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(entry)) process.kill(Number(pid), name);
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
}
