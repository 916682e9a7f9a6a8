import { Session } from "node:inspector/promises";
import { getHeapSnapshot } from "node:v8";

import type { Clock } from "@kubewright/clock";

import type { Endpoint, Reply } from "./http-endpoints.js";

const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;

const text = (status: number, body: string): Reply => ({ status, contentType: "text/plain; charset=utf-8", body });

/**
 * `/debug/pprof/profile?seconds=30`: a CPU profile (`.cpuprofile`). `/debug/pprof/heap`: a heap snapshot
 * (`.heapsnapshot`), which stops the process while it is taken and contains all data in memory, Secrets included. One
 * at a time. The paths are those of Go's net/http/pprof, the formats those of Chrome DevTools.
 */
export function profilingEndpoint(clock: Pick<Clock, "sleep">): Endpoint {
  let isBusy = false;
  return async (path, query) => {
    if (path === "/debug/pprof/" || path === "/debug/pprof") return text(200, "profile?seconds=30\nheap\n");
    if (path !== "/debug/pprof/profile" && path !== "/debug/pprof/heap") return undefined;
    const seconds = Number(query.get("seconds") ?? DEFAULT_SECONDS);
    if (!(seconds > 0 && seconds <= MAX_SECONDS)) return text(400, `seconds must be from 1 to ${MAX_SECONDS}\n`);
    if (isBusy) return text(503, "another profile is being taken\n");
    isBusy = true;
    try {
      const body = path.endsWith("/heap") ? getHeapSnapshot() : await cpuProfile(seconds * 1000, clock);
      return { status: 200, contentType: "application/json", body };
    } finally {
      isBusy = false;
    }
  };
}

async function cpuProfile(durationMs: number, clock: Pick<Clock, "sleep">): Promise<string> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await clock.sleep(durationMs);
    const { profile } = await session.post("Profiler.stop");
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
  }
}
