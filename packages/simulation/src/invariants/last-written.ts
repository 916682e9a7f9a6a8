import type { StoredChange, ReportedDecision, World } from "../world.js";
import type { JobRecord } from "./job-records.js";
import type { StoredJob, StoredJobSpec } from "./job-state.js";
import { JOBS, JOB_CONTROLLER, incarnationKeyOf, uidOf } from "./stored-objects.js";

/**
 * What the sync of a Job that tells what it has decided has written last. Its spec is the one that the sync has seen: had anybody
 * changed it since, the write would have been refused.
 */
class LastWrittenStatus {
  /** By the life of the controller and the Job's UID. */
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
    // What an earlier sync has sent, and given up, may take effect after that one is over.
    this.#ofSync = written === undefined || written.sentMs < decidedMs ? undefined : written.job;
  }

  /** Of the sync that has told last; `undefined` when it has written nothing that took effect. */
  get ofSync(): StoredJob | undefined {
    return this.#ofSync;
  }
}

const makeLastWritten = (): LastWrittenStatus => new LastWrittenStatus();

/** The one of a run. */
export function lastWrittenOf(world: World): LastWrittenStatus {
  return world.shared(makeLastWritten);
}

/**
 * What is wrong with a sync whichever spec it has seen: that of the Job as it has written it, and any that the Job has had where it
 * has written nothing.
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
