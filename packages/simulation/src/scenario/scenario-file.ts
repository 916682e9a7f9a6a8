import type { UnstructuredObject } from "@kubewright/api";

/** A scenario file as it is written, once it has passed its schema. `docs/scenarios.md` says what each field means. */
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
  /** How the controllers are set up. */
  readonly controllers?: ControllerSettings;
  /** How much requests and events vary in the time they take. Default: none takes any. */
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
  /** Most ended pods that one sync accounts for, from 1. Default: 500. */
  readonly maxUncountedPods?: number;
  /** Most pods that one sync creates or deletes, from 1. Default: 500. */
  readonly maxPodsPerSync?: number;
  /** Ended pods that are let be; 0 or less: all. Default: 12500. */
  readonly terminatedPodGCThreshold?: number;
  /** Durations of the Lease, one for each controller manager; the last holds for the rest. Default: 15s. */
  readonly leaseDurations?: readonly string[];
  /**
   * Whether the controller managers share the work by buckets of namespaces, as `kubewright-controller-manager --sharding` does,
   * instead of electing a leader. Default: false.
   */
  readonly sharding?: boolean;
}

/** Longest times, as durations. What each request and each event takes is drawn between nothing and this. */
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

/** Which objects a user's action is about. */
export interface Target {
  readonly kind: "CronJob" | "Job" | "Pod" | "Node" | "Namespace";
  readonly namespace?: string;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Which requests are meant: those that all given conditions hold for. */
export interface RequestSelection {
  /** Names of components. Default: all. */
  readonly components?: readonly string[];
  /** Whose. Default: of whoever sends it. */
  readonly controllerManager?: string;
  /** `create`, `update`, `patch`, `delete`, `get`, `list`, `watch`; `write` for the first four. Default: every verb. */
  readonly verbs?: readonly string[];
  /** Plural names: `pods`, `jobs/status`. Default: all. */
  readonly resources?: readonly string[];
  readonly namespace?: string;
  readonly name?: string;
}

/** What may happen, by the name it has in the file. */
export interface ScenarioEventMap {
  /**
   * Requests get another answer. With `effect: kept` they do what they ask for, and only the answer is lost.
   * `nth` (from 1) is the first that is concerned, counted from `at`; `times` how many from there. Default: all, while it lasts.
   */
  readonly requestFails: RequestSelection & {
    /** An HTTP status, or `timeout` for no answer at all. Default: 500. */
    readonly with?: 400 | 403 | 404 | 409 | 422 | 429 | 500 | 503 | 504 | "timeout";
    readonly effect?: "none" | "kept";
    readonly nth?: number;
    readonly times?: number;
    /** Only while so many objects of the resource are in the namespace, at least: what a quota does. */
    readonly whileAtLeast?: number;
  };
  /**
   * The controller is killed right before or after its n-th such request takes effect, and started again. `nth` (from 1) is
   * counted from `at`. Called off when that has not happened while it lasts.
   */
  readonly controllerCrashes: Omit<RequestSelection, "components" | "controllerManager"> & {
    /** A controller's name, or `all` for the controller managers. */
    readonly controller: string;
    readonly nth?: number;
    /** Default: after. */
    readonly when?: "before" | "after";
    /** Until it is there again. Default: 1s. */
    readonly restartAfter?: string;
  };
  /** A controller manager that shares work is told to end (SIGTERM), and gives up what it has; after that it is started again. */
  readonly shutdown: string;
  /** A controller manager stands still: no timer, request or answer of it goes on. */
  readonly paused: string;
  /** Open watches end; they are resumed, or, when `compacted`, answered with 410 and listed anew. */
  readonly watchCut: { readonly controller?: string; readonly kinds?: readonly string[]; readonly compacted?: boolean };
  /** Open watches say nothing more, and do not end by themselves. */
  readonly watchSilent: { readonly controller?: string; readonly kinds?: readonly string[] };
  /** Lists are answered from what was stored so long ago, unless they ask for something newer. */
  readonly staleList: { readonly controller?: string; readonly kinds?: readonly string[]; readonly by: string };
  /** The API server starts anew: what is stored stays, watches end, and no old version is known any more. */
  readonly apiServerRestart: true;
  /** The wall clock of one controller manager is set, beside {@link clockJump}, which sets that of all. */
  readonly clockSkew: { readonly controllerManager: string; readonly by: string };
  /** A controller, a controller manager, or `all` of these. */
  readonly controllerDown: string;
  readonly controllerUp: string;
  /** Of the leader, `true`, or of one controller manager. */
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

/** Those that end by themselves when their time is over, and what they do without `for`. */
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
