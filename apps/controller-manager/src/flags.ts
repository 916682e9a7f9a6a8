import { implementedControllers } from "./controller-names.js";
import {
  type ParseValue,
  parseBool,
  parseDurationMs,
  parseFloat32,
  parseInt32,
  parseVerbosity,
  splitList,
} from "./flag-values.js";
import type { ControllerManagerOptions } from "./options.js";

/** A flag, and the option it sets. Groups and order are the help's. */
export interface Flag<T = unknown> {
  readonly group: string;
  readonly name: string;
  readonly value: string;
  readonly help: string;
  readonly option: keyof ControllerManagerOptions;
  readonly parse: ParseValue<T>;
  /** How the default is shown, where it is not shown as it is. */
  readonly shown?: string;
}

const asIs: ParseValue<string> = (_flag, text) => text;

export const FLAGS: readonly Flag[] = [
  {
    group: "Generic",
    name: "controllers",
    value: "list",
    option: "controllers",
    parse: (_flag, text) => splitList(text),
    shown: "*",
    help: `controllers to run: '*' all that are on by default, 'foo' also foo, '-foo' not foo; the first item that names a controller decides. Here: ${implementedControllers.map(({ name }) => name).join(", ")}; other names of kube-controller-manager are accepted and skipped`,
  },
  {
    group: "Generic",
    name: "kube-api-qps",
    value: "float",
    option: "kubeApiQps",
    parse: parseFloat32,
    help: "requests a second to the API server, of each controller; negative: no limit",
  },
  {
    group: "Generic",
    name: "kube-api-burst",
    value: "int",
    option: "kubeApiBurst",
    parse: parseInt32,
    help: "requests each controller may send at once",
  },
  {
    group: "Generic",
    name: "min-resync-period",
    value: "duration",
    option: "minResyncPeriodMs",
    parse: parseDurationMs,
    shown: "12h0m0s",
    help: "informers resync after a random time between this and twice this",
  },
  {
    group: "Generic",
    name: "controller-start-interval",
    value: "duration",
    option: "controllerStartIntervalMs",
    parse: parseDurationMs,
    shown: "0s",
    help: "controllers start after a random time between this and twice this",
  },
  {
    group: "Generic",
    name: "controller-shutdown-timeout",
    value: "duration",
    option: "controllerShutdownTimeoutMs",
    parse: parseDurationMs,
    shown: "10s",
    help: "how long controllers may take to finish what is in flight; 0: as long as they like",
  },
  {
    group: "Leader election",
    name: "leader-elect",
    value: "bool",
    option: "leaderElect",
    parse: parseBool,
    help: "run controllers only while holding a Lease, so that replicas can stand by",
  },
  {
    group: "Leader election",
    name: "leader-elect-lease-duration",
    value: "duration",
    option: "leaderElectLeaseDurationMs",
    parse: parseDurationMs,
    shown: "15s",
    help: "how long others wait for a leader that does not renew",
  },
  {
    group: "Leader election",
    name: "leader-elect-renew-deadline",
    value: "duration",
    option: "leaderElectRenewDeadlineMs",
    parse: parseDurationMs,
    shown: "10s",
    help: "how long a leader tries to renew before it gives up",
  },
  {
    group: "Leader election",
    name: "leader-elect-retry-period",
    value: "duration",
    option: "leaderElectRetryPeriodMs",
    parse: parseDurationMs,
    shown: "2s",
    help: "pause between attempts",
  },
  {
    group: "Leader election",
    name: "leader-elect-resource-lock",
    value: "kind",
    option: "leaderElectResourceLock",
    parse: asIs,
    help: "only 'leases'",
  },
  {
    group: "Leader election",
    name: "leader-elect-resource-name",
    value: "name",
    option: "leaderElectResourceName",
    parse: asIs,
    help: "name of the Lease",
  },
  {
    group: "Leader election",
    name: "leader-elect-resource-namespace",
    value: "namespace",
    option: "leaderElectResourceNamespace",
    parse: asIs,
    help: "namespace of the Lease",
  },
  {
    group: "Job controller",
    name: "concurrent-job-syncs",
    value: "int",
    option: "concurrentJobSyncs",
    parse: parseInt32,
    help: "Jobs synced at once",
  },
  {
    group: "CronJob controller",
    name: "concurrent-cron-job-syncs",
    value: "int",
    option: "concurrentCronJobSyncs",
    parse: parseInt32,
    help: "CronJobs synced at once",
  },
  {
    group: "TTL-after-finished controller",
    name: "concurrent-ttl-after-finished-syncs",
    value: "int",
    option: "concurrentTtlAfterFinishedSyncs",
    parse: parseInt32,
    help: "finished Jobs looked at at once",
  },
  {
    group: "Garbage collector",
    name: "concurrent-gc-syncs",
    value: "int",
    option: "concurrentGcSyncs",
    parse: parseInt32,
    help: "objects looked at at once",
  },
  {
    group: "Garbage collector",
    name: "enable-garbage-collector",
    value: "bool",
    option: "enableGarbageCollector",
    parse: parseBool,
    help: "false: the garbage collector does not run, whatever --controllers says",
  },
  {
    group: "Pod garbage collector",
    name: "terminated-pod-gc-threshold",
    value: "int",
    option: "terminatedPodGcThreshold",
    parse: parseInt32,
    help: "ended pods of the whole cluster that are let be; 0 or less: all of them",
  },
  {
    group: "Logs",
    name: "logging-format",
    value: "format",
    option: "loggingFormat",
    parse: asIs,
    help: "'text' or 'json'; both go to standard error",
  },
  {
    group: "Logs",
    name: "v",
    value: "level",
    option: "verbosity",
    parse: parseVerbosity,
    help: "how much to log; 4 and up: everything",
  },
  {
    group: "Misc",
    name: "kubeconfig",
    value: "path",
    option: "kubeconfig",
    parse: asIs,
    help: "kubeconfig to connect and authenticate with; default: the cluster this runs in",
  },
  {
    group: "Misc",
    name: "master",
    value: "url",
    option: "master",
    parse: asIs,
    help: "URL of the API server, in place of the one in the kubeconfig",
  },
];
