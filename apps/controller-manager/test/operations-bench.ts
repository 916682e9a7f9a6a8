import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { silentLogger } from "@kubewright/controller";
import type { ClientCertificate } from "@kubewright/serving";

import type { ProcessStats } from "../src/metrics/process-metrics.js";
import { type ControllerManagerOptions, completeOptions, defaultOptions } from "../src/options.js";
import { createOperations } from "../src/serving/create-operations.js";
import type { HttpReply, HttpRequest } from "../src/serving/http-message.js";
import type { Operations } from "../src/serving/operations.js";

export const processStats: ProcessStats = {
  cpuSeconds: 1.5,
  openFileDescriptors: 20,
  maxFileDescriptors: 1024,
  residentBytes: 1_048_576,
  virtualBytes: 2_097_152,
  startTimeSeconds: 1_767_225_600,
  heapUsedBytes: 10,
  heapTotalBytes: 20,
  externalBytes: 5,
};

export interface OperationsBench {
  readonly clock: SimulatedClock;
  readonly operations: Operations;
  /** The verbosities that were set. */
  readonly levels: number[];
  readonly stop: () => void;
  /** Sends a request without authentication. */
  readonly ask: (target: string, given?: Partial<HttpRequest>) => Promise<HttpReply>;
}

/** The components behind the HTTPS server, with their own clock. */
export async function operationsBench(
  options: Partial<ControllerManagerOptions> = {},
  clock = new SimulatedClock("2026-01-01T00:00:00Z"),
): Promise<OperationsBench> {
  const levels: number[] = [];
  const stop = new AbortController();
  const operations = await createOperations(
    {
      options: completeOptions({ ...defaultOptions, ...options }),
      build: { version: "0.0.0", platform: "linux", arch: "x64" },
      nodeVersion: "v24.0.0",
      server: "https://10.0.0.1:6443",
      clock,
      random: seededRandom(1),
      logger: silentLogger,
      verbosity: { set: (level) => void levels.push(level) },
      readProcess: () => processStats,
      servingIo: { readFile: async (path) => `"${path},label": "a,b"` },
    },
    stop.signal,
  );
  return {
    clock,
    operations,
    levels,
    stop: () => stop.abort(new Error("stop")),
    ask: (target, given) => operations.router.handle(request(target, given)),
  };
}

/** Creates a request from a connection without a certificate. */
export function request(target: string, overrides: Partial<HttpRequest> = {}): HttpRequest {
  const [path = "", search = ""] = target.split("?");
  return {
    method: "GET",
    target,
    path,
    query: new URLSearchParams(search),
    headers: {},
    remoteAddress: "127.0.0.1",
    peer: undefined,
    body: async () => "",
    ...overrides,
  };
}

/** Creates a certificate signed by the authority whose "PEM" is `authority`. */
export function peer(
  commonName: string,
  authority: string,
  overrides: Partial<ClientCertificate> = {},
): ClientCertificate {
  return {
    commonName,
    organizations: [],
    fingerprint: "abc",
    notAfterMs: Date.parse("2027-01-01T00:00:00Z"),
    isRefused: false,
    problem: (authorities, nowMs) => {
      if (authorities !== authority) return `not from ${authorities}`;
      return nowMs <= Date.parse("2027-01-01T00:00:00Z") ? undefined : "expired";
    },
    ...overrides,
  };
}

/** Returns the lines of `/metrics` that begin with a text. */
export async function metricLines({ operations }: OperationsBench, start: string): Promise<string[]> {
  return (await operations.metrics.text("text")).split("\n").filter((line) => line.startsWith(start));
}
