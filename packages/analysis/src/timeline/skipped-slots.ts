import { type ObjectKey, splitObjectKey } from "@kubewright/api";
import type { CronJobDecision } from "@kubewright/cronjob";
import type { CreationRefusal, SkippedRow } from "@kubewright/timeline/data";

import { type SkipReason, heldBackReason, skipText } from "../text/run-row-text.js";
import type { CronJobState } from "../run/trace.js";
import type { RecordTimes } from "./record-times.js";
import { refusalOf } from "./refusal-of.js";

/** The slot that is currently held back. It may still start late. */
interface HeldBackSlot {
  readonly slotMs: number;
  /** Active Jobs that block it because of `Forbid`. Empty: another owner's Job has its name. */
  readonly blockedBy: readonly string[];
  /** Why the API server refused the slot's Job the last time. */
  readonly refusal?: CreationRefusal | undefined;
}

/**
 * Derives the skipped slots of CronJobs and their reasons from decisions. Each slot is returned once, although a
 * restarted controller reports slots of its predecessor again. Slots before the window are ignored.
 */
export class SkippedSlots {
  /** By CronJob. */
  readonly #heldBack = new Map<ObjectKey, HeldBackSlot>();
  /** By CronJob: the last slot that was reported. */
  readonly #reportedUpToMs = new Map<ObjectKey, number>();

  constructor(readonly times: RecordTimes) {}

  decided({ key, atMs, outcome, reason, message, slotMs, activeJobs = [], missed }: CronJobDecision): SkippedRow[] {
    const heldBack = this.#heldBack.get(key);
    const rows: SkippedRow[] = [];
    let reportedUpToMs = this.#reportedUpToMs.get(key) ?? this.times.startMs - 1;
    // The controller does not report a slot as missed after it tried to create its Job.
    if (heldBack?.refusal !== undefined && slotMs !== undefined && slotMs > heldBack.slotMs) {
      this.#heldBack.delete(key);
      rows.push(refusedRow(heldBack.slotMs, heldBack.refusal));
      reportedUpToMs = heldBack.slotMs;
    }
    for (const slots of missed) {
      const lastMs = slots.slotsMs.at(-1);
      for (const missedMs of slots.slotsMs) {
        if (missedMs <= reportedUpToMs) continue;
        const blockedBy = heldBack?.slotMs === missedMs ? heldBack.blockedBy : [];
        if (heldBack?.slotMs === missedMs) this.#heldBack.delete(key);
        // The cause of holding back is more specific than a later slot being due.
        const cause = blockedBy.length > 0 && slots.reason === "superseded" ? "stillActive" : slots.reason;
        const unlisted = missedMs === lastMs ? slots.count - slots.slotsMs.length : 0;
        rows.push(skippedRow(missedMs, { cause, blockedBy, unlisted }));
        // Unlisted slots are before the slot of the decision, if that slot is later.
        reportedUpToMs = unlisted === 0 ? missedMs : slotMs !== undefined && slotMs > missedMs ? slotMs - 1 : atMs;
      }
    }
    this.#reportedUpToMs.set(key, reportedUpToMs);
    const isHeldBack = reason === "ownedByAnother" || (outcome === "skipped" && reason === "stillActive");
    const refusal =
      outcome === "failed" && reason === "createFailed" ? refusalOf(message, splitObjectKey(key).namespace) : undefined;
    if ((isHeldBack || refusal !== undefined) && slotMs !== undefined && slotMs > reportedUpToMs)
      this.#heldBack.set(key, { slotMs, blockedBy: activeJobs, refusal });
    else if (outcome === "ran" || outcome === "replaced") this.#heldBack.delete(key);
    return rows;
  }

  /** Returns the slots that are still held back at the end of the window. */
  *ended(atMs: number, stateOf: (key: ObjectKey) => Partial<CronJobState>): Generator<[ObjectKey, SkippedRow]> {
    for (const [key, { slotMs, blockedBy, refusal }] of this.#heldBack) {
      if (refusal !== undefined) {
        yield [key, refusedRow(slotMs, refusal)];
        continue;
      }
      const cause = blockedBy.length === 0 ? "ownedByAnother" : heldBackReason(slotMs, stateOf(key), atMs);
      yield [key, skippedRow(slotMs, { cause, blockedBy: blockedBy, unlisted: 0 })];
    }
    this.#heldBack.clear();
  }
}

function refusedRow(slotMs: number, refusal: CreationRefusal): SkippedRow {
  return { type: "skipped", slotMs, cause: "refused", reason: `no Job created: ${refusal.text}`, refusal };
}

interface SkipFacts {
  readonly cause: SkipReason;
  readonly blockedBy: readonly string[];
  readonly unlisted: number;
}

function skippedRow(slotMs: number, { cause, blockedBy, unlisted }: SkipFacts): SkippedRow {
  const reason = skipText(cause, blockedBy);
  return { type: "skipped", slotMs, cause, reason, ...(unlisted > 0 ? { unlisted } : {}) };
}
