import { readFileSync, readdirSync } from "node:fs";

import type { ProcessStats } from "./process-metrics.js";

/**
 * Reads the statistics of this process from Node and, on Linux, from `/proc`. `/proc` is in memory, so the synchronous
 * reads do not block.
 */
export function readProcessStats(): ProcessStats {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const proc = procStats();
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: rss,
    startTimeSeconds: Math.round((Date.now() / 1000 - process.uptime()) * 100) / 100,
    heapUsedBytes: heapUsed,
    heapTotalBytes: heapTotal,
    externalBytes: external,
    ...proc,
  };
}

function procStats(): Pick<ProcessStats, "openFileDescriptors" | "maxFileDescriptors" | "virtualBytes"> {
  if (process.platform !== "linux") return {};
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    const virtualKiB = /^VmSize:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return {
      // Reading the directory opens one more file descriptor.
      openFileDescriptors: readdirSync("/proc/self/fd").length - 1,
      ...(limit === undefined ? {} : { maxFileDescriptors: Number(limit) }),
      ...(virtualKiB === undefined ? {} : { virtualBytes: Number(virtualKiB) * 1024 }),
    };
  } catch {
    return {};
  }
}
