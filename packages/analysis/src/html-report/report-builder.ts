import { splitObjectKey } from "@kubewright/api";
import type { DecisionNote, EventNote, ReportedObject, ReportData } from "@kubewright/timeline/data";

import { Timeline } from "../timeline/timeline.js";
import type {
  DecisionRecord,
  ScenarioEventRecord,
  ObjectRecord,
  PodState,
  TraceHeader,
  TraceRecord,
} from "../run/trace.js";
import { Concurrency } from "./concurrency.js";
import { ONE_RUN, type ReportLimits } from "./report-limits.js";

/** Outcomes of a CronJob's sync that change nothing and occur in nearly every sync. */
const QUIET_OUTCOMES: ReadonlySet<string> = new Set(["notDue", "alreadyProcessed"]);

/** Data of a report that a trace does not contain. */
export interface ReportExtras {
  /** End of the simulated time. Default: the time of the latest record. */
  readonly endMs?: number;
  readonly objects?: ReportData["objects"];
  readonly description?: string | undefined;
  /** What was assumed of containers. */
  readonly assumption?: string | undefined;
}

/**
 * Builds the data of the page from a trace, in bounded memory. Runs in Node for the file, and in the browser for the
 * live page.
 */
export class ReportBuilder {
  readonly #limits: ReportLimits;
  readonly #timeline: Timeline;
  readonly #concurrency = new Concurrency();
  readonly #pods = new Map<string, { phase: PodPhase; cpuMillis: number; bound: boolean }>();
  readonly #events: EventNote[] = [];
  readonly #decisions: DecisionNote[] = [];
  readonly #scenarioEvents: ScenarioEventRecord[] = [];
  /** The last decision about each object, so that a repetition is not stored. */
  readonly #lastDecisionTexts = new Map<string, string>();
  #header: TraceHeader | undefined;
  #latestMs = 0;
  #normalEvents = 0;
  #droppedEvents = 0;
  #droppedDecisions = 0;

  constructor(limits = ONE_RUN) {
    this.#limits = limits;
    this.#timeline = new Timeline(limits);
  }

  add(record: TraceRecord): void {
    this.#timeline.add(record);
    if (record.type !== "header") this.#latestMs = Math.max(this.#latestMs, Date.parse(record.at));
    switch (record.type) {
      case "header":
        this.#header = record;
        break;
      case "object":
        if (record.kind === "Pod") this.#pod(record);
        if (record.change === "DELETED")
          this.#lastDecisionTexts.delete(`${record.kind} ${record.namespace}/${record.name}`);
        break;
      case "event":
        this.#event({
          atMs: Date.parse(record.at),
          warning: record.eventType === "Warning",
          reason: record.reason,
          message: record.message,
          count: record.count,
          involved: record.involved,
        });
        break;
      case "decision":
        this.#decision(decisionNote(record));
        break;
      case "scenarioEvent":
        this.#scenarioEvents.push(record);
        break;
      case "end":
        break;
      default:
        record satisfies never;
    }
  }

  /** Returns the data so far. The result shares arrays with the builder: do not change it. */
  data({ endMs = this.#latestMs, objects = {}, description, assumption }: ReportExtras = {}): ReportData {
    const { warnings: _, ...totals } = this.#timeline.totals;
    return {
      reportVersion: 1,
      ...(description === undefined ? {} : { description }),
      ...(assumption === undefined ? {} : { assumption }),
      kubernetes: this.#header?.kubernetes ?? "",
      ...(this.#header === undefined ? {} : { seed: this.#header.seed }),
      startMs: this.#header === undefined ? endMs : Date.parse(this.#header.start),
      endMs,
      timeZoneData: this.#header?.timeZoneData ?? "",
      groups: this.#timeline.groups,
      totals,
      concurrency: this.#concurrency.steps(),
      scenarioEvents: this.#scenarioEvents,
      events: this.#events,
      decisions: this.#decisions,
      dropped: { events: this.#droppedEvents, decisions: this.#droppedDecisions },
      objects,
    };
  }

  #pod(record: Extract<ObjectRecord, { kind: "Pod" }>): void {
    const { uid, state, change } = record;
    const pod = this.#pods.get(uid) ?? { phase: "none", cpuMillis: record.cpuMillis ?? 0, bound: false };
    const atMs = Date.parse(record.at);
    const phase = change === "DELETED" ? "none" : podPhase(state);
    const bound = phase !== "none" && state.node !== undefined;
    if (phase !== pod.phase) {
      // A pod that starts at the time at which another ends does not cause a peak of two.
      if (pod.phase !== "none") this.#concurrency.add(atMs, pod.phase, -1);
      if (phase !== "none") this.#concurrency.add(atMs, phase, 1);
    }
    if (bound !== pod.bound && pod.cpuMillis > 0)
      this.#concurrency.add(atMs, "cpuMillis", bound ? pod.cpuMillis : -pod.cpuMillis);
    if (change === "DELETED") this.#pods.delete(uid);
    else this.#pods.set(uid, { ...pod, phase, bound });
  }

  #event(event: EventNote): void {
    const { maxWarnings, maxNormalEvents } = this.#limits;
    const hasRoom = event.warning
      ? this.#events.length - this.#normalEvents < maxWarnings
      : this.#normalEvents < maxNormalEvents;
    if (!hasRoom) {
      this.#droppedEvents++;
      return;
    }
    if (!event.warning) this.#normalEvents++;
    this.#events.push(event);
  }

  #decision(note: DecisionNote): void {
    const key = `${note.object.kind} ${note.object.namespace}/${note.object.name}`;
    const text = `${note.controller} ${note.outcome} ${note.slotMs ?? ""} ${note.reasons.join("\n")}`;
    const isNew =
      note.missed !== undefined || (!QUIET_OUTCOMES.has(note.outcome) && this.#lastDecisionTexts.get(key) !== text);
    if (!isNew) return;
    this.#lastDecisionTexts.set(key, text);
    if (this.#decisions.length < this.#limits.maxDecisions) this.#decisions.push(note);
    else this.#droppedDecisions++;
  }
}

type PodPhase = "none" | "waiting" | "running";

function podPhase({ phase }: PodState): PodPhase {
  return phase === "Running" ? "running" : phase === "Pending" ? "waiting" : "none";
}

function decisionNote(record: DecisionRecord): DecisionNote {
  const { controller } = record;
  const atMs = Date.parse(record.at);
  switch (record.controller) {
    case "cronjob-controller": {
      const { key, outcome, message, slotMs, jobName, missed } = record.decision;
      return {
        atMs,
        controller,
        object: { kind: "CronJob", ...named(key) },
        outcome,
        reasons: [message],
        ...(slotMs === undefined ? {} : { slotMs }),
        ...(jobName === undefined ? {} : { jobName }),
        ...(missed.length === 0 ? {} : { missed }),
      };
    }
    case "job-controller": {
      const { key, action, reasons, error } = record.decision;
      return {
        atMs,
        controller,
        object: { kind: "Job", ...named(key) },
        outcome: error === undefined ? action : "failed",
        reasons: error === undefined ? reasons : [...reasons, error],
      };
    }
    case "ttl-after-finished-controller": {
      const { namespace, name, outcome, expiresMs } = record.decision;
      const expires = new Date(expiresMs).toISOString();
      const reason =
        outcome === "deleted" ? `its time to live ended at ${expires}` : `its time to live ends at ${expires}`;
      return { atMs, controller, object: { kind: "Job", namespace, name }, outcome, reasons: [reason] };
    }
    case "pod-garbage-collector-controller": {
      const { namespace, name, outcome, message } = record.decision;
      return { atMs, controller, object: { kind: "Pod", namespace, name }, outcome, reasons: [message] };
    }
    case "garbage-collector-controller": {
      const { object, action, reason } = record.decision;
      const { kind, namespace, name } = object;
      return { atMs, controller, object: { kind, namespace, name }, outcome: action, reasons: [reason] };
    }
    default:
      return record satisfies never;
  }
}

function named(key: string): Pick<ReportedObject, "namespace" | "name"> {
  return splitObjectKey(key);
}
