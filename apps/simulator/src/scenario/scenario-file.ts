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
  readonly nodes?: readonly NodeGroup[];
  readonly workloads?: readonly WorkloadEntry[];
  readonly manifests?: readonly (string | UnstructuredObject)[];
  readonly happenings?: readonly HappeningEntry[];
}

export const SCENARIO_API_VERSION = "sim.kubewright.dev/v1";

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

/** What may happen, by the name it has in the file. */
export interface Happenings {
  readonly controllerDown: string;
  readonly controllerUp: string;
  readonly leaseLost: true;
  readonly clockJump: string;
  readonly staleCache: { readonly kind: string; readonly controller: string };
  readonly apiServerDown: "all" | readonly string[];
  readonly apiServerSlow: { readonly by: string; readonly components?: readonly string[] };
  readonly nodeLost: string;
  readonly nodeDrained: string;
  readonly nodeTainted: {
    readonly node: string;
    readonly key: string;
    readonly value?: string;
    readonly effect: string;
  };
  readonly podEvicted: Omit<Target, "kind"> & { readonly job?: string; readonly count?: number };
  readonly patch: Target & { readonly type?: "merge" | "strategic" | "json"; readonly with: object };
  readonly suspend: Target;
  readonly resume: Target;
  readonly delete: Target & {
    readonly propagation?: "Background" | "Foreground" | "Orphan";
    readonly gracePeriodSeconds?: number;
  };
  readonly apply: string | UnstructuredObject;
}

export type HappeningKind = keyof Happenings;

export type HappeningEntry = { readonly at: string; readonly for?: string } & Partial<Happenings>;

/** Those that end by themselves when their time is over, and what they do without `for`. */
export const LASTING: Readonly<
  Partial<Record<HappeningKind, "untilTheEnd" | "required" | { readonly byDefault: string }>>
> = {
  controllerDown: "untilTheEnd",
  leaseLost: { byDefault: "30s" },
  staleCache: "required",
  apiServerDown: "required",
  apiServerSlow: "required",
  nodeLost: "untilTheEnd",
  nodeDrained: "untilTheEnd",
  nodeTainted: "untilTheEnd",
  suspend: "untilTheEnd",
};
