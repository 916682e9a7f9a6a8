import type { DecisionNote, EventNote, ReportedObject, ReportData } from "../data/report-data.js";
import type { Item } from "./item.js";

/** Events and decisions, indexed by their objects. */
export class NoteIndex {
  readonly #events = new Map<string, EventNote[]>();
  readonly #decisions = new Map<string, DecisionNote[]>();

  constructor({ events, decisions }: Pick<ReportData, "events" | "decisions">) {
    for (const event of events) push(this.#events, event.involved, event);
    for (const decision of decisions) push(this.#decisions, decision.object, decision);
  }

  eventsOf(object: ReportedObject): readonly EventNote[] {
    return this.#events.get(key(object)) ?? [];
  }

  decisionsOf(object: ReportedObject): readonly DecisionNote[] {
    return this.#decisions.get(key(object)) ?? [];
  }

  /** Returns the controllers' decisions about a run, a pod or a slot, in chronological order. */
  decisionsAbout(item: Item): readonly DecisionNote[] {
    const { group } = item;
    const { namespace } = group;
    const ofCronJob =
      group.kind === "CronJob" ? this.decisionsOf({ kind: "CronJob", namespace, name: group.name }) : [];
    if (item.type === "ghost") {
      const { slotMs } = item.row;
      return ofCronJob.filter(
        (note) => note.slotMs === slotMs || note.missed?.some(({ slotsMs }) => slotsMs.includes(slotMs)),
      );
    }
    if (item.type === "pod") return this.decisionsOf({ kind: "Pod", namespace, name: item.pod.name });
    const { name } = item.row;
    const starts = ofCronJob.filter((note) => note.jobName === name);
    return [...starts, ...this.decisionsOf({ kind: "Job", namespace, name })].sort((a, b) => a.atMs - b.atMs);
  }
}

function key({ kind, namespace, name }: ReportedObject): string {
  return `${kind}/${namespace}/${name}`;
}

function push<T>(map: Map<string, T[]>, object: ReportedObject, note: T): void {
  const notes = map.get(key(object));
  if (notes === undefined) map.set(key(object), [note]);
  else notes.push(note);
}
