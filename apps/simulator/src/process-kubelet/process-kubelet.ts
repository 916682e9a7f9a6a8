import {
  type Container,
  type DeepReadonly,
  type ObjectKey,
  type Pod,
  compareResourceVersions,
  formatTime,
  keyOf,
  pods,
} from "@kubewright/api";
import { type ResourceClient, errorMessage, isConflict, isInvalid, isNotFound } from "@kubewright/client";
import type { Clock, Timer } from "@kubewright/clock";
import { type ControllerDeps, ControllerShell, type Runnable, isPodTerminal } from "@kubewright/controller";
import { lengthen } from "@kubewright/cluster/kubelet";
import { type SharedInformer, isDeletedFinalStateUnknown } from "@kubewright/informer";
import { ItemExponentialFailureRateLimiter, type RateLimitingQueue } from "@kubewright/workqueue";

import { ConfigError } from "./config-error.js";
import { ConfigReader } from "./config-reader.js";
import { containerEnvironment } from "./container-environment.js";
import type { ContainerLogFiles } from "./container-log-files.js";
import { expand } from "./expand.js";
import { LogFile } from "./log-files.js";
import { mapPaths } from "./path-mapping.js";
import { planPod } from "./plan-pod.js";
import { type ContainerRun, type PodRun, allContainers, isRunning } from "./pod-run.js";
import { containerIdOf, phaseOf, podStatus } from "./pod-status.js";
import { type VolumePaths, makeVolumes, mountedPaths } from "./pod-volumes.js";
import type { ProcessFolder, ProcessHost, Program, ProgramEnd, StartedProgram } from "./process-host.js";
import { resumePod } from "./resume-pod.js";

export interface ProcessKubeletOptions extends ControllerDeps {
  readonly host: ProcessHost;
  readonly logs: ContainerLogFiles;
  /** Maximum number of concurrent processes of all containers. Further containers wait for one to end. Default 256. */
  readonly maxProcesses?: number;
}

/** The environment variable with the path of the termination message. */
export const TERMINATION_LOG_VARIABLE = "KUBEWRIGHT_TERMINATION_LOG";

/** Retries at least every ten seconds, as the kubelet's status manager does. */
const RETRY = { baseDelayMs: 100, maxDelayMs: 10_000 };
/** Delay before the start of a refused container is retried. */
const REFUSED_RETRY_MS = 10_000;
/** Time that processes have to end when this kubelet stops. */
const SHUTDOWN_MS = 10_000;
/** Upstream: `MaxContainerTerminationMessageLength`, `…LogLength` and `…LogLines`. */
const DEFAULT_MESSAGE_PATH = "/dev/termination-log";
const MESSAGE_BYTES = 4096;
const MESSAGE_LOG = { lines: 80, bytes: 2048 };

/**
 * Runs the containers of pods as processes of this machine: `command` and `args`, as the present user, without
 * isolation. Images are ignored. Statuses are those of a real kubelet, for pods on any node.
 *
 * When this kubelet stops, all processes end, and their pods get the status of a node shutdown.
 */
export class ProcessKubelet implements Runnable {
  readonly name = "process-kubelet";
  readonly #shell: ControllerShell;
  readonly #clock: Clock;
  readonly #host: ProcessHost;
  readonly #logs: ContainerLogFiles;
  readonly #maxProcesses: number;
  readonly #podClient: ResourceClient<Pod>;
  readonly #pods: SharedInformer<Pod>;
  readonly #queue: RateLimitingQueue<ObjectKey>;
  readonly #runs = new Map<ObjectKey, PodRun>();
  readonly #timers = new Map<ObjectKey, Timer>();
  readonly #programs = new Map<ContainerRun, RunningProgram>();
  readonly #volumes = new WeakMap<PodRun, VolumePaths>();
  /** The last written status of each pod. */
  readonly #lastWritten = new WeakMap<PodRun, string>();
  /** Number of containers that are about to start. */
  #preparing = 0;
  /** Pods that wait for processes of other pods to end. */
  readonly #waiting = new Set<ObjectKey>();
  #folder: Promise<ProcessFolder> | undefined;

  constructor(options: ProcessKubeletOptions) {
    const shell = new ControllerShell(options, {
      name: this.name,
      component: "kubelet",
      logMessages: { starting: "Starting kubelet of processes", stopped: "Shutting down kubelet of processes" },
    });
    this.#shell = shell;
    this.#clock = shell.clock;
    this.#host = options.host;
    this.#logs = options.logs;
    this.#maxProcesses = options.maxProcesses ?? 256;
    this.#podClient = shell.client.resource(pods);
    this.#pods = shell.informer(pods);
    this.#queue = shell.addLoop({
      queue: "kubelet",
      workers: 20,
      rateLimiter: new ItemExponentialFailureRateLimiter(RETRY),
      reconcile: (key, signal) => this.#syncPod(key, signal),
      describeError: "Error syncing pod, skipping",
    });
    shell.onStopped(() => {
      for (const timer of this.#timers.values()) timer.cancel();
    });
    const enqueue = (pod: DeepReadonly<Pod>): void => {
      if (pod.spec?.nodeName) this.#queue.add(keyOf(pod));
    };
    this.#pods.addEventHandler({
      onAdd: enqueue,
      onUpdate: (_old, pod) => enqueue(pod),
      onDelete: (deleted) => this.#queue.add(isDeletedFinalStateUnknown(deleted) ? deleted.key : keyOf(deleted)),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#shell.run(signal);
    } finally {
      await this.#shutDown();
    }
  }

  async #syncPod(key: ObjectKey, signal: AbortSignal): Promise<void> {
    this.#timers.get(key)?.cancel();
    this.#timers.delete(key);
    const pod = this.#pods.store.get(key);
    const before = this.#runs.get(key);
    if (before !== undefined && before.uid !== pod?.metadata.uid) {
      // A new pod with the same name waits until the old one has ended; `#containerEnded` adds the key again.
      if (isRunning(before)) return this.#signalAll(before, "SIGKILL");
      await this.#forget(key, before);
    }
    if (pod === undefined) return;
    let run = this.#runs.get(key);
    if (run === undefined) {
      if (isPodTerminal(pod)) return this.#removeIfLingering(pod, signal);
      const nowMs = this.#clock.monotonic();
      run = resumePod(pod, nowMs, this.#clock.now() - nowMs);
      this.#runs.set(key, run);
    }
    if (isNewer(pod, run.latest)) run.latest = pod;
    if (isPodTerminal(run.latest) && !isRunning(run)) return this.#removeIfLingering(run.latest, signal);
    if (run.acceptedAtMs === undefined && run.latest.metadata.deletionTimestamp === undefined) {
      run.acceptedAtMs = this.#clock.monotonic();
      run.startTime = formatTime(this.#clock.now());
      await this.#writeStatus(run, signal);
    }
    await this.#applyPlan(key, run, signal);
    await this.#writeStatus(run, signal);
    if (isPodTerminal(run.latest)) await this.#removeIfLingering(run.latest, signal);
  }

  /** Applies the plan of a pod, and plans again until nothing is left to do now. */
  async #applyPlan(key: ObjectKey, run: PodRun, signal: AbortSignal): Promise<void> {
    this.#waiting.delete(key);
    for (;;) {
      const nowMs = this.#clock.monotonic();
      const plan = planPod(run, nowMs, this.#clock.now() - nowMs);
      if (plan.ending !== undefined) run.ending = plan.ending;
      for (const { container, name } of plan.signal) this.#signal(run, container, name);
      for (const container of plan.start) {
        if (signal.aborted) return;
        if (this.#programs.size + this.#preparing >= this.#maxProcesses) {
          this.#waiting.add(key);
          return;
        }
        this.#preparing++;
        try {
          await this.#start(key, run, container, signal);
        } finally {
          this.#preparing--;
          // The container was refused, so other pods may start theirs.
          if (container.state.name !== "running") this.#wakeWaiting();
        }
      }
      if (plan.start.length > 0) continue;
      if (plan.wakeAtMs !== Infinity)
        this.#timers.set(
          key,
          this.#clock.setTimer(Math.max(0, plan.wakeAtMs - nowMs), () => this.#queue.add(key)),
        );
      return;
    }
  }

  async #start(key: ObjectKey, run: PodRun, container: ContainerRun, signal: AbortSignal): Promise<void> {
    const { state } = container;
    const pod = run.latest;
    const isRestart = state.name === "exited";
    const attempt = isRestart ? container.restarts + 1 : container.restarts;
    let prepared: Prepared;
    try {
      prepared = await this.#prepare(run, container.name, attempt, signal);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const { message } = error;
      const reason = error instanceof MountError ? "ContainerCreating" : "CreateContainerConfigError";
      if (state.name !== "refused" || state.message !== message)
        this.#shell.events.event(
          pod,
          pods,
          "Warning",
          error instanceof MountError ? "FailedMount" : "Failed",
          error instanceof MountError ? `MountVolume.SetUp failed: ${message}` : `Error: ${message}`,
        );
      container.state = { name: "refused", reason, message, retryAtMs: this.#clock.monotonic() + REFUSED_RETRY_MS };
      return;
    }
    if (isRestart) {
      container.last = state.termination;
      container.backOff = lengthen(container.backOff, state.exitedAtMs, this.#clock.monotonic());
      this.#logs.remove(containerIdOf(run, { ...container, restarts: attempt - 2 }));
      await prepared.folder.remove(attemptFolder(run, container.name, attempt - 2));
    }
    container.restarts = attempt;
    const { program, log, messagePath, folder } = prepared;
    this.#logs.add(containerIdOf(run, container), log);
    const startedAt = formatTime(this.#clock.now());
    container.state = { name: "running", startedAt, lastSignal: "nothing" };
    const started = this.#host.start({ ...program, onOutput: (stream, bytes) => log.write(stream, bytes) });
    this.#shell.events.event(pod, pods, "Normal", "Started", `Started container ${container.name}`);
    const ended = started.ended
      .then(async (end) => {
        await log.end();
        const message = await this.#terminationMessage(pod, container.name, end, { folder, messagePath, log });
        this.#containerEnded(key, run, container, { end, message, startedAt });
      })
      .catch((error: unknown) => {
        this.#shell.logger.error({ err: errorMessage(error) }, "The output of a container cannot be read");
        this.#containerEnded(key, run, container, { end: { type: "exited", exitCode: 255 }, message: "", startedAt });
      });
    this.#programs.set(container, { program: started, ended });
  }

  /**
   * Prepares the program, environment and files of a container.
   *
   * @throws ConfigError when the container cannot start.
   */
  async #prepare(run: PodRun, name: string, attempt: number, signal: AbortSignal): Promise<Prepared> {
    const pod = run.latest;
    const spec = specOf(pod, name);
    const { command = [], args = [], image = "" } = spec;
    if (command.length === 0)
      throw new ConfigError(
        `no command: this kubelet starts command and args as processes, and cannot run the image ${JSON.stringify(image)}`,
      );
    const folder = await (this.#folder ??= this.#host.makeFolder());
    const reader = new ConfigReader(this.#shell.client, pod.metadata.namespace ?? "default", signal);
    let volumes = this.#volumes.get(run);
    if (volumes === undefined) {
      try {
        volumes = await makeVolumes(pod, { folder, parentPath: `${podFolder(run)}/volumes`, reader });
      } catch (error) {
        throw error instanceof ConfigError ? new MountError(error.message, { cause: error }) : error;
      }
      this.#volumes.set(run, volumes);
    }
    const attemptPath = attemptFolder(run, name, attempt);
    const messagePath = `${attemptPath}/termination-log`;
    await folder.write(messagePath, "");
    const mapping = [
      ...mountedPaths(spec, volumes),
      [spec.terminationMessagePath ?? DEFAULT_MESSAGE_PATH, folder.pathOf(messagePath)] as const,
    ];
    const variables = {
      ...(await containerEnvironment(pod, spec, reader)),
      [TERMINATION_LOG_VARIABLE]: spec.terminationMessagePath ?? DEFAULT_MESSAGE_PATH,
    };
    const toHostPaths = (text: string): string => mapPaths(text, mapping);
    const [file = "", ...rest] = [...command, ...args].map((text) => toHostPaths(expand(text, variables)));
    return {
      folder,
      messagePath,
      log: new LogFile(folder, `${attemptPath}/log`, this.#clock),
      program: {
        command: file,
        args: rest,
        environment: {
          ...this.#host.environment,
          HOSTNAME: pod.spec?.hostname ?? pod.metadata.name ?? "",
          ...Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, toHostPaths(value)])),
        },
        workingFolder: spec.workingDir ? toHostPaths(spec.workingDir) : undefined,
      },
    };
  }

  /** Returns the termination message of a container. Upstream: kuberuntime_container.go getTerminationMessage. */
  async #terminationMessage(
    pod: DeepReadonly<Pod>,
    name: string,
    end: ProgramEnd,
    { folder, messagePath, log }: Pick<Prepared, "folder" | "messagePath" | "log">,
  ): Promise<string> {
    if (end.type === "notStarted") return end.message;
    const message = new TextDecoder().decode(await folder.readEnd(messagePath, MESSAGE_BYTES));
    const isFallback = specOf(pod, name).terminationMessagePolicy === "FallbackToLogsOnError" && end.exitCode !== 0;
    return message === "" && isFallback ? log.tail(MESSAGE_LOG.lines, MESSAGE_LOG.bytes) : message;
  }

  #containerEnded(
    key: ObjectKey,
    run: PodRun,
    container: ContainerRun,
    { end, message, startedAt }: { readonly end: ProgramEnd; readonly message: string; readonly startedAt: string },
  ): void {
    const isStarted = end.type === "exited";
    const exitCode = isStarted ? end.exitCode : 128;
    container.state = {
      name: "exited",
      exitedAtMs: this.#clock.monotonic(),
      termination: {
        exitCode,
        reason: isStarted ? (exitCode === 0 ? "Completed" : "Error") : "StartError",
        ...(message === "" ? {} : { message: isStarted ? message : `failed to start container: ${message}` }),
        startedAt: isStarted ? startedAt : "1970-01-01T00:00:00Z",
        finishedAt: formatTime(this.#clock.now()),
        containerID: containerIdOf(run, container),
      },
    };
    if (!isStarted)
      this.#shell.events.event(
        run.latest,
        pods,
        "Warning",
        "Failed",
        `Error: failed to start container ${container.name}: ${message}`,
      );
    this.#programs.delete(container);
    this.#queue.add(key);
    this.#wakeWaiting();
  }

  #wakeWaiting(): void {
    for (const key of this.#waiting) this.#queue.add(key);
  }

  #signal(run: PodRun, container: ContainerRun, name: "SIGTERM" | "SIGKILL"): void {
    const { state } = container;
    if (state.name !== "running") return;
    // A shutdown writes no events: the component that sends events has already stopped.
    if (state.lastSignal === "nothing" && run.ending?.cause !== "shutdown")
      this.#shell.events.event(run.latest, pods, "Normal", "Killing", `Stopping container ${container.name}`);
    container.state = { ...state, lastSignal: name };
    this.#programs.get(container)?.program.signal(name);
  }

  #signalAll(run: PodRun, name: "SIGTERM" | "SIGKILL"): void {
    for (const container of allContainers(run)) this.#signal(run, container, name);
  }

  /** Writes the pod's status if it has changed. */
  async #writeStatus(run: PodRun, signal: AbortSignal | undefined): Promise<void> {
    // A terminal status never changes, even if another client wrote it.
    if (isPodTerminal(run.latest)) return;
    const body = podStatus(run, formatTime(this.#clock.now()));
    const content = JSON.stringify(body, (name, value: unknown) =>
      name === "lastTransitionTime" || value === null ? undefined : value,
    );
    if (this.#lastWritten.get(run) === content) return;
    const { name = "", namespace } = run.latest.metadata;
    try {
      run.latest = await this.#podClient.patch(
        name,
        { type: "strategic", body },
        { namespace, subresource: "status", ...(signal === undefined ? {} : { signal }) },
      );
      this.#lastWritten.set(run, content);
    } catch (error) {
      // The pod was deleted, or a new pod has its name. The cache will deliver this.
      if (!isNotFound(error) && !isConflict(error) && !(isInvalid(error) && this.#isReplaced(run))) throw error;
    }
  }

  #isReplaced({ uid, latest }: PodRun): boolean {
    return this.#pods.store.get(keyOf(latest))?.metadata.uid !== uid;
  }

  async #removeIfLingering({ metadata }: DeepReadonly<Pod>, signal: AbortSignal): Promise<void> {
    const { name = "", namespace, uid, deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
    if (deletionTimestamp === undefined || deletionGracePeriodSeconds === 0) return;
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    try {
      await this.#podClient.delete(name, { namespace, gracePeriodSeconds: 0, ...preconditions, signal });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  async #forget(key: ObjectKey, run: PodRun): Promise<void> {
    this.#runs.delete(key);
    for (const container of allContainers(run))
      for (const restarts of [container.restarts, container.restarts - 1])
        this.#logs.remove(containerIdOf(run, { ...container, restarts }));
    await (await this.#folder)?.remove(podFolder(run));
  }

  /** Upstream: pkg/kubelet/nodeshutdown. */
  async #shutDown(): Promise<void> {
    const killAtMs = this.#clock.monotonic() + SHUTDOWN_MS;
    const runs = [...this.#runs.values()].filter((run) => {
      const phase = phaseOf(run);
      return run.acceptedAtMs !== undefined && phase !== "Succeeded" && phase !== "Failed";
    });
    for (const run of runs) {
      run.ending ??= { cause: "shutdown", killAtMs };
      this.#signalAll(run, "SIGTERM");
    }
    const allDone = new AbortController();
    const allEnded = Promise.all([...this.#programs.values()].map(({ ended }) => ended)).then(() => allDone.abort());
    if (this.#programs.size > 0) await this.#clock.sleep(SHUTDOWN_MS, allDone.signal).catch(() => {});
    for (const { program } of this.#programs.values()) program.signal("SIGKILL");
    await allEnded;
    for (const run of runs) {
      try {
        await this.#writeStatus(run, undefined);
      } catch (error) {
        this.#shell.logger.error({ err: errorMessage(error) }, "The final status of a pod could not be written");
      }
    }
    await (await this.#folder)?.close();
  }
}

interface RunningProgram {
  readonly program: StartedProgram;
  /** Resolves when the end of the program has been processed. */
  readonly ended: Promise<void>;
}

interface Prepared {
  readonly program: Omit<Program, "onOutput">;
  readonly folder: ProcessFolder;
  readonly messagePath: string;
  readonly log: LogFile;
}

/** A volume cannot be created. */
class MountError extends ConfigError {}

function specOf({ spec }: DeepReadonly<Pod>, name: string): DeepReadonly<Container> {
  const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return all.find((container) => container.name === name)!;
}

function isNewer({ metadata: a }: DeepReadonly<Pod>, { metadata: b }: DeepReadonly<Pod>): boolean {
  return (compareResourceVersions(a.resourceVersion ?? "0", b.resourceVersion ?? "0") ?? 0) > 0;
}

function podFolder({ uid }: PodRun): string {
  return `pods/${uid}`;
}

function attemptFolder(run: PodRun, name: string, attempt: number): string {
  return `${podFolder(run)}/containers/${name}/${attempt}`;
}
