import type { StoredChange, ReportedDecision, World } from "../world.js";
import type { JobRecord } from "./job-records.js";
import type { StoredJob, StoredJobSpec } from "./job-state.js";
import { JOBS, JOB_CONTROLLER, incarnationKeyOf, uidOf } from "./stored-objects.js";

/**
 * The last status written by the Job sync that reports its decision. Its spec is the one that the sync has read: the
 * API server would have refused the write after another change.
 */
class LastWrittenStatus {
  /** By incarnation of the controller and the Job's UID. */
  readonly #written = new Map<string, { readonly job: StoredJob; readonly sentMs: number }>();
  readonly #decidedMs = new Map<string, number>();
  #ofSync: StoredJob | undefined;

  onChange({ resource, type, object, request }: StoredChange): void {
    if (resource !== JOBS || type !== "MODIFIED" || request?.component !== JOB_CONTROLLER) return;
    this.#written.set(`${incarnationKeyOf(request)} ${uidOf(object)}`, { job: object, sentMs: request.sentMs });
  }

  onDecision(reported: ReportedDecision): void {
    if (reported.controller !== JOB_CONTROLLER) return;
    const key = `${incarnationKeyOf({ ...reported, component: JOB_CONTROLLER })} ${reported.decision.uid}`;
    const written = this.#written.get(key);
    const decidedMs = this.#decidedMs.get(key) ?? -Infinity;
    this.#written.delete(key);
    this.#decidedMs.set(key, reported.atMs);
    // A write that an earlier sync has sent and abandoned may take effect later.
    this.#ofSync = written === undefined || written.sentMs < decidedMs ? undefined : written.job;
  }

  /** The Job as written by the sync that reported last; `undefined` when no write took effect. */
  get ofSync(): StoredJob | undefined {
    return this.#ofSync;
  }
}

const makeLastWritten = (): LastWrittenStatus => new LastWrittenStatus();

/** Returns the record of a run. */
export function lastWrittenOf(world: World): LastWrittenStatus {
  return world.shared(makeLastWritten);
}

/**
 * Returns the problem of a sync for every spec that it may have read, or `undefined` when one spec has none. With a
 * status write that is the spec of the written Job; otherwise it is any spec that the Job has had.
 */
export function problemInEverySpec(
  written: StoredJob | undefined,
  { specs }: JobRecord,
  problemOf: (spec: StoredJobSpec) => string | undefined,
): string | undefined {
  let wrong: string | undefined;
  for (const spec of written?.spec === undefined ? specs : [written.spec]) {
    wrong = problemOf(spec);
    if (wrong === undefined) return undefined;
  }
  return wrong;
}
