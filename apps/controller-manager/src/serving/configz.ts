import { formatDuration } from "../flag-values.js";
import type { ControllerManagerOptions } from "../options.js";
import { jsonReply } from "./http-message.js";
import type { Route } from "./router.js";

const GROUP = "kubecontrollermanager.config.k8s.io";

/** `/configz`: the effective options, as upstream's configuration type. */
export function configzRoute(options: ControllerManagerOptions): Route {
  return { path: "/configz", listed: true, handle: () => jsonReply(200, { [GROUP]: configurationOf(options) }) };
}

/** @see kubernetes v1.36 staging/src/k8s.io/kube-controller-manager/config/v1alpha1/types.go */
function configurationOf(options: ControllerManagerOptions): object {
  return {
    kind: "KubeControllerManagerConfiguration",
    apiVersion: `${GROUP}/v1alpha1`,
    Generic: {
      // Obsolete fields upstream, unrelated to the listen address.
      Port: 0,
      Address: "0.0.0.0",
      MinResyncPeriod: formatDuration(options.minResyncPeriodMs),
      ClientConnection: {
        kubeconfig: options.kubeconfig,
        acceptContentTypes: "",
        contentType: options.kubeApiContentType,
        qps: options.kubeApiQps,
        burst: options.kubeApiBurst,
      },
      ControllerStartInterval: formatDuration(options.controllerStartIntervalMs),
      LeaderElection: {
        leaderElect: options.leaderElect,
        leaseDuration: formatDuration(options.leaderElectLeaseDurationMs),
        renewDeadline: formatDuration(options.leaderElectRenewDeadlineMs),
        retryPeriod: formatDuration(options.leaderElectRetryPeriodMs),
        resourceLock: options.leaderElectResourceLock,
        resourceName: options.leaderElectResourceName,
        resourceNamespace: options.leaderElectResourceNamespace,
      },
      Controllers: options.controllers,
      Debugging: {
        enableProfiling: options.profiling,
        enableContentionProfiling: options.contentionProfiling,
      },
      LeaderMigrationEnabled: false,
      LeaderMigration: { leaderName: "", resourceLock: "", controllerLeaders: null },
    },
    CronJobController: { ConcurrentCronJobSyncs: options.concurrentCronJobSyncs },
    GarbageCollectorController: {
      EnableGarbageCollector: options.enableGarbageCollector,
      ConcurrentGCSyncs: options.concurrentGcSyncs,
      GCIgnoredResources: [
        { Group: "", Resource: "events" },
        { Group: "events.k8s.io", Resource: "events" },
      ],
    },
    JobController: { ConcurrentJobSyncs: options.concurrentJobSyncs },
    PodGCController: { TerminatedPodGCThreshold: options.terminatedPodGcThreshold },
    TTLAfterFinishedController: { ConcurrentTTLSyncs: options.concurrentTtlAfterFinishedSyncs },
  };
}
