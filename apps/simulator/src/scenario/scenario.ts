import type { NodeShape } from "@kubewright/cluster";

import type { Manifest } from "../input/manifest.js";
import type { HappeningKind, Happenings } from "@kubewright/simulation";

/** A machine, and the group with a `count` that it belongs to, if any. */
export interface GroupedNode extends NodeShape {
  readonly group?: string;
}

/** A scenario that can be played. */
export interface Scenario {
  readonly name: string;
  readonly description: string | undefined;
  readonly startMs: number;
  readonly durationMs: number;
  readonly seed: number;
  /** Zone of CronJobs without one. */
  readonly timeZone: string;
  readonly controllerManagers: number;
  /** Absent: the default ones. */
  readonly nodes: readonly GroupedNode[] | undefined;
  /** Its own and those of the command line, with what it says of their workloads written into them. */
  readonly manifests: readonly Manifest[];
  readonly happenings: readonly Happening[];
}

/** One thing that happens. */
export type Happening = {
  [Kind in HappeningKind]: {
    readonly kind: Kind;
    readonly value: Happenings[Kind];
    readonly atMs: number;
    /** When it ends by itself. */
    readonly untilMs: number | undefined;
    /** When it is known to be over, by itself or by another happening. */
    readonly overMs: number | undefined;
    /** Of `apply`. */
    readonly objects: readonly Manifest[];
    /** `file:line:column` */
    readonly place: string;
  };
}[HappeningKind];
