import type { UnstructuredObject } from "@kubewright/api";

/** A scenario file that matches its schema. `docs/scenarios.md` documents each field. */
export interface ScenarioFile {
  readonly apiVersion: typeof SCENARIO_API_VERSION;
  readonly kind: "Scenario";
  readonly name?: string;
  readonly description?: string;
  readonly start?: string;
  readonly for?: string;
  readonly seed?: number;
  readonly timeZone?: string;
  readonly controllerManagers?: number;
  /** Settings of the controllers. */
  readonly controllers?: ControllerSettings;
  /** Random delays of requests and events. Default: no delays. */
  readonly jitter?: Jitter;
  readonly nodes?: readonly NodeGroup[];
  readonly workloads?: readonly WorkloadEntry[];
  readonly manifests?: readonly (string | UnstructuredObject)[];
  readonly events?: readonly ScenarioEventEntry[];
}

export const SCENARIO_API_VERSION = "sim.kubewright.dev/v1";

export interface ControllerSettings {
  /** Whether the Job controller waits until it sees its own writes (`StaleControllerConsistencyJob`). Default: true. */
  readonly consistencyGate?: boolean;
  /** Maximum number of ended pods that one sync counts, from 1. Default: 500. */
  readonly maxUncountedPods?: number;
  /** Maximum number of pods that one sync creates or deletes, from 1. Default: 500. */
  readonly maxPodsPerSync?: number;
  /** Number of ended pods that PodGC keeps; 0 or less: all. Default: 12500. */
  readonly terminatedPodGCThreshold?: number;
  /** Durations of the Lease, one per controller manager; the last one applies to the rest. Default: 15s. */
  readonly leaseDurations?: readonly string[];
  /**
   * Whether the controller managers share the work by buckets of namespaces, as `kubewright-controller-manager
   * --sharding` does, instead of electing a leader. Default: false.
   */
  readonly sharding?: boolean;
}

/** Maximum delays, as durations. The delay of each request and event is drawn between 0 and the maximum. */
export interface Jitter {
  readonly requests?: string;
  readonly events?: string;
}

export interface NodeGroup {
  readonly name: string;
  readonly count?: number;
  readonly cpu?: number | string;
  readonly memory?: number | string;
  readonly pods?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

export interface WorkloadEntry {
  readonly select: {
    readonly kind?: "CronJob" | "Job";
    readonly namespace?: string;
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly container?: string;
  readonly indexes?: number | string;
  readonly attempts?: number | string;
  readonly duration?: string;
  readonly startupDelay?: string;
  readonly exitCode?: number | Readonly<Record<string, number>>;
  readonly ignoreSigterm?: boolean;
}

/** The objects of a user action. */
export interface Target {
  readonly kind: "CronJob" | "Job" | "Pod" | "Node" | "Namespace";
  readonly namespace?: string;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A selection of requests: those that meet all given conditions. */
export interface RequestSelection {
  /** Names of components. Default: all. */
  readonly components?: readonly string[];
  /** Name of the controller manager that sends them. Default: any. */
  readonly controllerManager?: string;
  /** `create`, `update`, `patch`, `delete`, `get`, `list`, `watch`; `write` for the first four. Default: every verb. */
  readonly verbs?: readonly string[];
  /** Plural names: `pods`, `jobs/status`. Default: all. */
  readonly resources?: readonly string[];
  readonly namespace?: string;
  readonly name?: string;
}

/** The kinds of events, by the name of their field in the file. */
export interface ScenarioEventMap {
  /**
   * Requests get another response. With `effect: kept` they take effect, and only the response is lost. `nth` (from 1)
   * is the first affected request, counted from `at`; `times` is their number. Default: all, until the event ends.
   */
  readonly requestFails: RequestSelection & {
    /** An HTTP status, or `timeout` for no response. Default: 500. */
    readonly with?: 400 | 403 | 404 | 409 | 422 | 429 | 500 | 503 | 504 | "timeout";
    readonly effect?: "none" | "kept";
    readonly nth?: number;
    readonly times?: number;
    /** Only while the namespace has at least this many objects of the resource, as with a quota. */
    readonly whileAtLeast?: number;
  };
  /**
   * The controller is killed right before or after its n-th such request takes effect, and restarted. `nth` (from 1) is
   * counted from `at`. The event is cancelled if that has not happened before its end.
   */
  readonly controllerCrashes: Omit<RequestSelection, "components" | "controllerManager"> & {
    /** A controller's name, or `all` for the controller managers. */
    readonly controller: string;
    readonly nth?: number;
    /** Default: after. */
    readonly when?: "before" | "after";
    /** Delay until the restart. Default: 1s. */
    readonly restartAfter?: string;
  };
  /**
   * A controller manager that shares work receives SIGTERM and releases its buckets; after the event it is restarted.
   */
  readonly shutdown: string;
  /** A controller manager is paused: none of its timers, requests and responses proceed. */
  readonly paused: string;
  /** Open watches end. They are resumed or, when `compacted`, answered with 410, so that the client lists again. */
  readonly watchCut: { readonly controller?: string; readonly kinds?: readonly string[]; readonly compacted?: boolean };
  /** Open watches deliver nothing more, and do not end by themselves. */
  readonly watchSilent: { readonly controller?: string; readonly kinds?: readonly string[] };
  /** Lists return the state of `by` ago, unless they request a newer version. */
  readonly staleList: { readonly controller?: string; readonly kinds?: readonly string[]; readonly by: string };
  /** The API server restarts: the stored objects stay, watches end, and earlier resource versions are unknown. */
  readonly apiServerRestart: true;
  /**
   * The wall clock of one controller manager is set, in addition to {@link clockJump}, which sets the clocks of all.
   */
  readonly clockSkew: { readonly controllerManager: string; readonly by: string };
  /** Name of a controller or controller manager, or `all` for all controller managers. */
  readonly controllerDown: string;
  readonly controllerUp: string;
  /** `true` for the leader, or the name of a controller manager. */
  readonly leaseLost: true | string;
  readonly clockJump: string;
  readonly staleCache: { readonly kind: string; readonly controller: string };
  readonly apiServerDown: "all" | readonly string[];
  readonly apiServerSlow: {
    readonly by: string;
    readonly components?: readonly string[];
    readonly controllerManager?: string;
  };
  readonly nodeLost: string;
  readonly nodeDrained: string;
  readonly nodeTainted: {
    readonly node: string;
    readonly key: string;
    readonly value?: string;
    readonly effect: string;
  };
  readonly podEvicted: Omit<Target, "kind"> & { readonly job?: string; readonly count?: number };
  readonly patch: Target & {
    readonly type?: "merge" | "strategic" | "json";
    readonly with: object;
    readonly subresource?: "status";
  };
  readonly suspend: Target;
  readonly resume: Target;
  readonly delete: Target & {
    readonly propagation?: "Background" | "Foreground" | "Orphan";
    readonly gracePeriodSeconds?: number;
  };
  readonly apply: string | UnstructuredObject;
}

export type ScenarioEventKind = keyof ScenarioEventMap;

export type ScenarioEventEntry = { readonly at: string; readonly for?: string } & Partial<ScenarioEventMap>;

/** Kinds of events with a duration, and what they do without `for`. */
export const LASTING: Readonly<
  Partial<Record<ScenarioEventKind, "untilTheEnd" | "required" | { readonly byDefault: string }>>
> = {
  controllerDown: "untilTheEnd",
  controllerCrashes: { byDefault: "5m" },
  clockSkew: "untilTheEnd",
  leaseLost: { byDefault: "30s" },
  staleCache: "required",
  apiServerDown: "required",
  apiServerSlow: "required",
  requestFails: "untilTheEnd",
  paused: "required",
  shutdown: "untilTheEnd",
  watchSilent: "untilTheEnd",
  staleList: "required",
  nodeLost: "untilTheEnd",
  nodeDrained: "untilTheEnd",
  nodeTainted: "untilTheEnd",
  suspend: "untilTheEnd",
};
