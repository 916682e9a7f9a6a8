import { type Clock, ScaledClock, realClock, realRandom, seededRandom, uuid } from "@kubewright/clock";
import {
  type ApiServer,
  type Cluster,
  type ClusterOptions,
  type ControllerName,
  SnapshotError,
  clusterControllers,
  createCluster,
} from "@kubewright/cluster";
import { canonicalControllers, controllerListErrors, selectControllers } from "@kubewright/controller";

import { ApiMetrics, METRICS_PATH } from "./api-metrics.js";
import { parseSeed, parseStart } from "./flag-values.js";
import type { Io } from "./io.js";
import { kubeconfigFor } from "./kubeconfig.js";
import { ADVANCE_PATH, ManualClock } from "./manual-clock.js";
import { openOutput } from "./output-file.js";
import { livePagePaths } from "./report/live-page.js";
import { TRACE_PATH } from "./report/live-status.js";
import { LiveTrace } from "./report/live-trace.js";
import { type AccessFlags, serveAccess } from "./serve-access.js";
import { readSnapshot, writeSnapshot } from "./snapshot-file.js";
import { makeTlsIdentity } from "./tls-identity.js";
import { UserError } from "./user-error.js";

export interface ServeFlags extends AccessFlags {
  readonly port: string;
  readonly kubelet: string;
  readonly controllers: string;
  readonly terminatedPodGcThreshold: string;
  readonly speed: string;
  readonly start?: string;
  readonly snapshot?: string;
  readonly restore?: string;
  readonly seed?: string;
  readonly authorization: string;
}

/** `kubewright serve`: the embedded cluster over HTTP until the process is told to stop. */
export async function serveCommand(flags: ServeFlags, io: Io): Promise<void> {
  const port = parsePort(flags.port);
  const kubelet = parseKubelet(flags.kubelet);
  const time = parseSpeed(flags.speed, flags.start === undefined ? undefined : parseStart(flags.start));
  const { authentication, allowedHosts } = await serveAccess(flags, io);
  const authorization = parseAuthorization(flags.authorization);
  const restore = flags.restore === undefined ? undefined : await readSnapshot(flags.restore, io);
  const metrics = new ApiMetrics();
  const clock = time instanceof ManualClock ? time.clock : time;
  const speed = time instanceof ManualClock ? "manual" : Number(flags.speed);
  const trace = new LiveTrace({ clock, real: realClock, speed, life: uuid(realRandom) });
  const cluster: Cluster = begin(flags.restore, {
    clock,
    random: flags.seed === undefined ? realRandom : seededRandom(parseSeed(flags.seed)),
    kubelet,
    terminatedPodGCThreshold: parseThreshold(flags.terminatedPodGcThreshold),
    controllers: controllersFrom(flags.controllers),
    authorization,
    ...(authentication === undefined ? {} : { authentication }),
    ...(restore === undefined ? {} : { restore }),
    onDecision: (decision) => trace.decision(decision),
    paths: {
      [METRICS_PATH]: () => metrics.serve(),
      ...livePagePaths(io),
      [TRACE_PATH]: (request) => trace.serve(request, cluster),
      ...(time instanceof ManualClock ? { [ADVANCE_PATH]: (request) => time.serve(request, apiServer) } : {}),
    },
  });
  const apiServer: ApiServer = cluster.apiServer;
  metrics.follow(apiServer);
  if (time instanceof ManualClock) time.follow(apiServer);
  const tls = flags.tls
    ? await makeTlsIdentity([...new Set([flags.host, ...allowedHosts, "127.0.0.1", "::1", "localhost"])])
    : undefined;
  const listening = {
    host: flags.host,
    port,
    allowedHosts,
    ...(tls === undefined ? {} : { tls: { ...tls.server, clientCA: tls.ca } }),
  };
  const listener = await apiServer.listen(listening).catch((error: unknown) => {
    throw new UserError((error as Error).message, { cause: error });
  });
  try {
    if (flags.kubeconfig !== undefined) {
      const text = kubeconfigFor({ url: listener.url, tls, token: flags.token });
      await writeFile("--kubeconfig", flags.kubeconfig, text, io);
    }
    io.stderr.write(
      `Serving on ${listener.url} (kubelet ${kubelet}), a page at /ui/. ${kubectlAdvice(listener.url, flags)}\n`,
    );
    await cluster.run(io.stopped);
    if (flags.snapshot !== undefined)
      for (const line of await writeSnapshot(flags.snapshot, apiServer.snapshot(), io))
        io.stderr.write(`kubewright: --snapshot: left out of ${flags.snapshot}: ${line}\n`);
  } finally {
    await apiServer.close();
  }
}

/** How kubectl gets in. It trusts no authority that it is not told of, and sends no token over plain HTTP. */
function kubectlAdvice(
  url: string,
  { tls = false, kubeconfig, token, tokenFile, allowAnonymous }: AccessFlags,
): string {
  const needsToken = (token ?? tokenFile) !== undefined && !allowAnonymous;
  if (tls ? kubeconfig === undefined : needsToken)
    return "For kubectl add --tls and --kubeconfig: it sends no token over plain HTTP, and has to know the authority";
  return `Try: kubectl ${kubeconfig === undefined ? `--server ${url}` : `--kubeconfig ${kubeconfig}`} get jobs,cronjobs,pods`;
}

/** @throws UserError when the snapshot cannot be begun with. */
function begin(restore: string | undefined, options: ClusterOptions): Cluster {
  try {
    return createCluster(options);
  } catch (error) {
    if (error instanceof SnapshotError)
      throw new UserError(`--restore: cannot begin with ${restore}: ${error.message}`, { cause: error });
    throw error;
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new UserError(`--port: ${JSON.stringify(text)} is not a port number from 0 to 65535`);
  return port;
}

function parseKubelet(text: string): "simulated" | "none" {
  if (text !== "simulated" && text !== "none")
    throw new UserError(`--kubelet: ${JSON.stringify(text)} is not one of simulated, none`);
  return text;
}

function parseSpeed(text: string, startMs: number | undefined): Clock | ManualClock {
  if (text === "manual") return new ManualClock(realClock, startMs);
  const factor = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || factor === 0 || factor > 100_000) {
    throw new UserError(`--speed: ${JSON.stringify(text)} is neither manual nor a factor above 0, such as 1 or 60`);
  }
  return factor === 1 && startMs === undefined ? realClock : new ScaledClock(realClock, factor, startMs);
}

function parseThreshold(text: string): number {
  if (!/^-?\d{1,9}$/.test(text))
    throw new UserError(`--terminated-pod-gc-threshold: ${JSON.stringify(text)} is not a whole number`);
  return Number(text);
}

function parseAuthorization(text: string): "AlwaysAllow" | "RBAC" {
  if (text !== "AlwaysAllow" && text !== "RBAC")
    throw new UserError(`--authorization: ${JSON.stringify(text)} is not one of AlwaysAllow, RBAC`);
  return text;
}

/** @throws UserError naming what is not a controller, and what this cluster does not have. */
function controllersFrom(list: string): readonly ControllerName[] {
  const items = list === "" ? [] : list.split(",");
  const [problem] = controllerListErrors(items);
  if (problem !== undefined) throw new UserError(`--controllers: ${problem}`);
  const names = Object.keys(clusterControllers) as ControllerName[];
  const { enabled, missing } = selectControllers(names, canonicalControllers(items));
  if (missing.length > 0) throw new UserError(`--controllers: the embedded cluster has no ${missing.join(", ")}`);
  return enabled;
}

async function writeFile(flag: string, path: string, text: string, io: Io): Promise<void> {
  // A kubeconfig holds keys.
  const file = await openOutput(flag, path, io, { secret: true });
  await file.write(text);
  await file.close();
}
