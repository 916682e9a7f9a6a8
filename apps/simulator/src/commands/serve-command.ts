import { UserError } from "@kubewright/analysis/errors";
import { parseKubernetesVersion, parseSeed, parseStart, versionRemark } from "@kubewright/analysis/input";
import { openOutput } from "@kubewright/analysis/ports";
import { callWebhook, listen } from "@kubewright/apiserver/http";
import {
  type Clock,
  type Random,
  ScaledClock,
  StoppableClock,
  realClock,
  realRandom,
  seededRandom,
  uuid,
} from "@kubewright/clock";
import {
  type Cluster,
  type ClusterOptions,
  type ControllerName,
  type KubeletOptions,
  type StoreSnapshot,
  SnapshotError,
  controllerNames,
  createCluster,
} from "@kubewright/cluster";
import { canonicalControllers, controllerListErrors, runInStages, selectControllers } from "@kubewright/controller";
import { notSimulatedReporter } from "@kubewright/analysis/trace";

import type { Io } from "../io/io.js";
import { PROCESSES_WARNING, localProcesses } from "../process-kubelet/local-processes.js";
import { ApiMetrics, METRICS_PATH } from "../serve/api-metrics.js";
import { kubeconfigFor } from "../serve/kubeconfig.js";
import { livePagePaths } from "../serve/live-page.js";
import { TRACE_PATH } from "../serve/live-status.js";
import { LiveTrace } from "../serve/live-trace.js";
import { ADVANCE_PATH, ManualClock } from "../serve/manual-clock.js";
import { type AccessFlags, resolveAccess } from "../serve/serve-access.js";
import {
  type ClusterInstance,
  type InitialState,
  RESET_PATH,
  SNAPSHOT_PATH,
  ServedCluster,
} from "../serve/served-cluster.js";
import { parseFeatureGates } from "../serve/server-feature-gates.js";
import { readSnapshot, writeSnapshot } from "../serve/snapshot-file.js";
import { makeTlsIdentity } from "../serve/tls-identity.js";
import type { Command, CommandContext } from "../shell/command.js";

export interface ServeFlags extends AccessFlags {
  readonly port: string;
  readonly kubelet: string;
  readonly controllers: string;
  readonly terminatedPodGcThreshold: string;
  readonly speed: string;
  readonly start?: string;
  readonly kubernetes: string;
  readonly snapshot?: string;
  readonly restore?: string;
  readonly seed?: string;
  readonly authorization: string;
  readonly allowPrivileged?: boolean;
  readonly featureGates: string;
}

/** Printed once, when controllers, scheduler and kubelet have received the initial state. Scripts wait for it. */
export const READY_LINE = "kubewright is ready";

/** `kubewright serve`: serves the embedded cluster over HTTP until the process is stopped. */
export const serveCommand: Command<ServeFlags> = {
  options: [
    ["--port <number>", "port to listen on; 0 picks a free one", "8001"],
    [
      "--host <address>",
      "address to listen on; an address that other machines reach needs --token, --token-file, or --tls with --kubeconfig",
      "127.0.0.1",
    ],
    [
      "--allowed-hosts <list>",
      "host names that requests without credentials may use, besides localhost, 127.0.0.0/8, ::1 and --host",
    ],
    [
      "--allow-anonymous",
      "accept requests without credentials from any client; requests with wrong credentials are refused",
    ],
    [
      "--kubelet <mode>",
      "simulated: pods run as their annotations say; process: their commands run as processes of this machine, as you and not isolated, which needs --token and loopback; none: no kubelet and no scheduler",
      "simulated",
    ],
    [
      "--controllers <list>",
      "controllers to run, in kube-controller-manager's list syntax; an empty list: only the API server",
      "*",
    ],
    [
      "--terminated-pod-gc-threshold <number>",
      "number of ended pods in the cluster that PodGC keeps; 0: all of them",
      "12500",
    ],
    ["--speed <factor>", "how fast time passes: 1, 60, or manual: paused until POST /_kubewright/clock/advance", "1"],
    ["--start <time>", "time in the cluster when the server starts: 2026-03-28T22:00:00Z (default: now)"],
    ["--kubernetes <version>", "release of Kubernetes to simulate: 1.31 to 1.36, or 1.36.2", "1.36"],
    ["--snapshot <file>", "write all stored objects to a file when the server stops"],
    ["--restore <file>", "start with the objects of a file that --snapshot wrote"],
    ["--seed <number>", "seed of names, UIDs and simulated workloads (default: a random one)"],
    ["--tls", "serve HTTPS with a new certificate authority; --kubeconfig writes it, with a client certificate"],
    ["--token <token>", "require this bearer token of every client; it permits everything"],
    ["--token-file <file>", 'require a token of this CSV file of every client: token,user,uid,"group1,group2"'],
    ["--authorization <mode>", "AlwaysAllow, or RBAC", "AlwaysAllow"],
    ["--allow-privileged", "let pods have privileged containers, as most clusters do"],
    ["--feature-gates <list>", "features of kube-apiserver, Name=true|false,…: ShardedListAndWatch (ALPHA, off)", ""],
    ["--kubeconfig <file>", "write a kubeconfig for this cluster to a file"],
  ],
  help: `
Examples:
  $ kubewright serve --port 8001
  $ kubectl --server http://127.0.0.1:8001 get jobs,cronjobs,pods
  $ kubewright serve --controllers '' --kubelet none --kubeconfig kubewright.conf
  $ kubewright serve --kubernetes 1.33
  $ kubewright serve --speed manual                 # http://127.0.0.1:8001/ui/ plays it
  $ curl -X POST http://127.0.0.1:8001/_kubewright/clock/advance -d '{"seconds": 3600}'
  $ kubewright serve --host 0.0.0.0 --tls --kubeconfig kubewright.conf
  $ kubewright serve --kubelet process --token s3cret --tls --kubeconfig kubewright.conf`,
  run: serve,
};

async function serve({ flags, io, note }: CommandContext<ServeFlags>): Promise<void> {
  const port = parsePort(flags.port);
  const kubelet = parseKubelet(flags.kubelet);
  const speed = parseSpeed(flags.speed);
  const startMs = flags.start === undefined ? realClock.now() : parseStart(flags.start);
  const { version, note: versionNote } = parseKubernetesVersion(flags.kubernetes);
  const { authentication, allowedHosts } = await resolveAccess(flags, io);
  const processes = kubelet === "process" ? await localProcesses({ ...flags, speed }, io) : undefined;
  const restored = flags.restore === undefined ? undefined : await readSnapshot(flags.restore, io);
  const features = parseFeatureGates(flags.featureGates, version);
  const metrics = new ApiMetrics(features);
  const runningClock =
    speed === 1 && flags.start === undefined
      ? realClock
      : new ScaledClock(realClock, speed === "manual" ? 1 : speed, startMs);
  const tls = flags.tls
    ? await makeTlsIdentity([...new Set([flags.host, ...allowedHosts, "127.0.0.1", "::1", "localhost"])])
    : undefined;
  const options = {
    kubelet: kubelet === "none" ? kubelet : "simulated",
    createDefaultObjects: true,
    webhooks: callWebhook,
    kubernetesVersion: version,
    terminatedPodGCThreshold: parseThreshold(flags.terminatedPodGcThreshold),
    controllers: controllersFrom(flags.controllers),
    authorization: parseAuthorization(flags.authorization),
    allowPrivileged: flags.allowPrivileged ?? false,
    featureGates: Object.fromEntries(features.map(({ name, enabled }) => [name, enabled])),
    ...(metrics.shards === undefined ? {} : { shardMetrics: metrics.shards }),
    ...(tls === undefined ? {} : { rootCA: tls.ca }),
    // Tokens stay valid after a reset.
    ...(authentication === undefined ? {} : { authentication: { serviceAccountKey: newKey(), ...authentication } }),
  } as const;
  const seed = flags.seed === undefined ? undefined : parseSeed(flags.seed);
  const startInstance = (from: InitialState | undefined): ClusterInstance => {
    const manual = speed === "manual" ? new ManualClock(realClock, from?.nowMs ?? startMs) : undefined;
    const clock = manual?.clock ?? new StoppableClock(runningClock);
    const trace = new LiveTrace({ clock, real: realClock, speed, life: uuid(realRandom) });
    const restore = from === undefined ? restored : { ...from.snapshot, resourceVersion: from.resourceVersion };
    const random = seed === undefined ? realRandom : randomFor(seed, from?.snapshot ?? restored);
    const cluster = createServedCluster(flags.restore, {
      ...options,
      ...processes?.(),
      clock,
      random,
      ...(restore === undefined ? {} : { restore }),
      onDecision: (decision) => trace.decision(decision),
      paths: {
        [METRICS_PATH]: () => metrics.serve(),
        ...livePagePaths(io),
        [TRACE_PATH]: (request) => trace.serve(request, cluster),
        [RESET_PATH]: (request) => served.reset(request),
        [SNAPSHOT_PATH]: (request) => served.takeSnapshot(request),
        ...(manual === undefined ? {} : { [ADVANCE_PATH]: (request) => manual.serve(request, cluster.apiServer) }),
      },
    });
    metrics.follow(cluster.apiServer);
    manual?.fireDueTimersAfterRequests(cluster.apiServer);
    return {
      // An API server alone needs no report of kinds without a controller.
      cluster: options.controllers.length === 0 ? cluster : withReporter(cluster, clock, random),
      clock,
      manual,
      dispose: () => (clock instanceof StoppableClock ? clock.stop() : undefined),
    };
  };
  const served: ServedCluster = new ServedCluster(startInstance);
  const listening = {
    host: flags.host,
    port,
    allowedHosts,
    ...(tls === undefined ? {} : { tls: { ...tls.server, clientCA: tls.ca } }),
  };
  const listener = await listen(served.apiServer, listening).catch((error: unknown) => {
    throw new UserError((error as Error).message, { cause: error });
  });
  try {
    if (flags.kubeconfig !== undefined) {
      const text = kubeconfigFor({ url: listener.url, tls, token: flags.token });
      await writeFile("--kubeconfig", flags.kubeconfig, text, io);
    }
    if (processes !== undefined) note(PROCESSES_WARNING);
    if (versionNote !== undefined) note(versionNote);
    io.stderr.write(
      `Serving on ${listener.url} (kubelet ${kubelet}${versionRemark(version)}), a page at /ui/. ${kubectlAdvice(listener.url, flags)}\n`,
    );
    await served.run(io.stopped, () => io.stderr.write(`${READY_LINE}\n`));
    if (flags.snapshot !== undefined)
      for (const line of await writeSnapshot(flags.snapshot, served.apiServer.snapshot(), io))
        io.stderr.write(`kubewright: --snapshot: left out of ${flags.snapshot}: ${line}\n`);
  } finally {
    await served.apiServer.close();
  }
}

/**
 * Returns how to connect kubectl, which trusts only authorities of its kubeconfig and sends no token over plain HTTP.
 */
function kubectlAdvice(
  url: string,
  { tls = false, kubeconfig, token, tokenFile, allowAnonymous }: AccessFlags,
): string {
  const needsToken = (token ?? tokenFile) !== undefined && !allowAnonymous;
  if (tls ? kubeconfig === undefined : needsToken)
    return "For kubectl add --tls and --kubeconfig: it sends no token over plain HTTP, and needs the certificate authority";
  return `Try: kubectl ${kubeconfig === undefined ? `--server ${url}` : `--kubeconfig ${kubeconfig}`} get jobs,cronjobs,pods`;
}

/** @throws UserError when the cluster cannot start from the snapshot. */
function createServedCluster(restore: string | undefined, options: ClusterOptions & KubeletOptions): Cluster {
  try {
    return createCluster(options);
  } catch (error) {
    if (error instanceof SnapshotError)
      throw new UserError(`--restore: cannot start from ${restore}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Returns the cluster with a reporter of kinds that none of its controllers handles. */
function withReporter(cluster: Cluster, clock: Clock, random: Random): Cluster {
  const client = cluster.client("kubewright");
  const { informers } = cluster;
  const reporter = notSimulatedReporter({ client, clock, random: random.fork("not-simulated"), informers });
  const rest = { name: "cluster", run: (signal: AbortSignal) => cluster.run(signal) };
  return { ...cluster, run: (signal) => runInStages([[reporter], [rest]], signal) };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new UserError(`--port: ${JSON.stringify(text)} is not a port number from 0 to 65535`);
  return port;
}

function parseKubelet(text: string): "simulated" | "process" | "none" {
  if (text !== "simulated" && text !== "process" && text !== "none")
    throw new UserError(`--kubelet: ${JSON.stringify(text)} is not one of simulated, process, none`);
  return text;
}

function parseSpeed(text: string): number | "manual" {
  if (text === "manual") return text;
  const factor = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || factor === 0 || factor > 100_000) {
    throw new UserError(`--speed: ${JSON.stringify(text)} is neither manual nor a factor above 0, such as 1 or 60`);
  }
  return factor;
}

/**
 * Returns the same random source whenever a cluster starts from the same state. It differs from the source of the UIDs
 * in that state.
 */
function randomFor(seed: number, state: StoreSnapshot | undefined): Random {
  const random = seededRandom(seed);
  return state === undefined ? random : random.fork(`from ${state.resourceVersion}`);
}

function newKey(): Uint8Array {
  return new Uint8Array(Uint32Array.from({ length: 8 }, () => realRandom.uint32()).buffer);
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

/** @throws UserError naming unknown controllers, and those that this cluster does not have. */
function controllersFrom(list: string): readonly ControllerName[] {
  const items = list === "" ? [] : list.split(",");
  const [problem] = controllerListErrors(items);
  if (problem !== undefined) throw new UserError(`--controllers: ${problem}`);
  const { enabled, missing } = selectControllers(controllerNames, canonicalControllers(items));
  if (missing.length > 0) throw new UserError(`--controllers: the embedded cluster has no ${missing.join(", ")}`);
  return enabled;
}

async function writeFile(flag: string, path: string, text: string, io: Io): Promise<void> {
  // A kubeconfig contains keys.
  const file = await openOutput(flag, path, io, { secret: true });
  await file.write(text);
  await file.close();
}
