import type { CreationRefusal } from "../data/rows.js";
import type { ReportData } from "../data/report-data.js";
import { durationText } from "./duration-text.js";
import { type Item, type Look, groupId, hindrance } from "./item.js";
import { latenessMs } from "./item-text.js";
import type { Scene } from "./scene.js";

/** A notable outcome, listed once for all its occurrences. */
export interface Highlight {
  readonly look: Look | "late";
  /** Number and kind of occurrences, for example `12 runs skipped`. */
  readonly title: string;
  readonly reason: string;
  /** Affected CronJobs and Jobs, those with the most occurrences first. */
  readonly parts: readonly HighlightPart[];
}

/** The occurrences of one CronJob or Job. */
export interface HighlightPart {
  readonly name: string;
  readonly count: number;
  /** Its first affected item. */
  readonly first: Item;
}

const UNSCHEDULABLE = "FailedScheduling";

/**
 * Returns the failures and deviations among the filtered items, grouped. Objects that refuse pods come first, because
 * other problems follow from them, and then the most severe.
 */
export function highlights(scene: Scene, data: Pick<ReportData, "events">): Highlight[] {
  const refusals = new RefusalCounts();
  const failed = new GroupCounts("failed", counted("run failed", "runs failed"));
  const unschedulable = new GroupCounts("waiting", counted("pod found no node", "pods found no node"));
  const skipped = new GroupCounts("skipped", counted("run skipped", "runs skipped"));
  const late = new GroupCounts("late", counted("run started late", "runs started late"));
  let latestMs = 0;
  for (const item of scene.runs) {
    const refusal = item.type === "pod" ? undefined : item.row.refusal;
    if (refusal !== undefined) refusals.add(item, refusal);
    if (item.type === "ghost" && refusal === undefined)
      skipped.add(item, withoutJobNames(item.row.reason, item), 1 + (item.row.unlisted ?? 0));
    if (item.type !== "run") continue;
    if (item.look === "failed") failed.add(item, item.row.reason ?? "");
    const lateMs = latenessMs(item);
    if (lateMs > 0) late.add(item, "");
    latestMs = Math.max(latestMs, lateMs);
  }
  const why = unscheduledPods(data);
  if (why.size > 0)
    for (const item of scene.items.values()) {
      const reason = item.type === "pod" ? why.get(`${item.group.namespace}/${item.pod.name}`) : undefined;
      if (reason !== undefined) unschedulable.add(item, reason);
    }
  return [
    ...refusals.highlights(),
    ...unschedulable.highlights(),
    ...failed.highlights(),
    ...skipped.highlights(),
    ...late.highlights().map((highlight) => ({ ...highlight, reason: `by ${durationText(latestMs)} at most` })),
  ];
}

/** Returns the scheduler's last message about each unschedulable pod, by namespace and name. */
function unscheduledPods({ events }: Pick<ReportData, "events">): Map<string, string> {
  const why = new Map<string, string>();
  for (const { reason, message, involved } of events)
    if (reason === UNSCHEDULABLE && involved.kind === "Pod") why.set(`${involved.namespace}/${involved.name}`, message);
  return why;
}

/** Removes Job names from a reason, so that reasons of different slots are equal. */
function withoutJobNames(reason: string, { group }: Item): string {
  const names = reason
    .split(", ")
    .join(" ")
    .split(" ")
    .filter((word) => word.startsWith(`${group.name}-`));
  return names.length === 0
    ? reason
    : reason.replace(names.join(", "), names.length === 1 ? "the run before" : "runs before");
}

/** Returns a function that formats a count: `1 run`, `12 runs`. */
function counted(one: string, many: string): (count: number) => string {
  return (count) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** Counts runs without pods, and slots without a Job, by the refusing object. */
class RefusalCounts {
  readonly #causes = new Map<string, { readonly text: string; readonly counts: GroupCounts }>();

  /** Amounts in the text change from retry to retry. Of each object, the first text is shown. */
  add(item: Item, { object, text }: CreationRefusal): void {
    const isRun = item.type === "run";
    const what = isRun ? (hindrance(item.row) === undefined ? "pods refused" : "no pod created") : "no Job created";
    const title = object ?? "The API server";
    const key = `${title} ${what} ${object === undefined ? text : text.split(",")[0]!}`;
    let cause = this.#causes.get(key);
    if (cause === undefined) {
      const number = isRun ? counted("run", "runs") : counted("slot", "slots");
      const counts = new GroupCounts("waiting", (count) => `${title}: ${what} for ${number(count)}`);
      this.#causes.set(key, (cause = { text, counts }));
    }
    cause.counts.add(item, cause.text);
  }

  highlights(): Highlight[] {
    return [...this.#causes.values()].flatMap(({ counts }) => counts.highlights());
  }
}

/** Counts occurrences by reason and by CronJob or Job. */
class GroupCounts {
  readonly #look: Highlight["look"];
  readonly #title: (count: number) => string;
  readonly #reasons = new Map<string, Map<string, { name: string; count: number; first: Item }>>();

  /** @param title - Returns the title of a number of occurrences. */
  constructor(look: Highlight["look"], title: (count: number) => string) {
    this.#look = look;
    this.#title = title;
  }

  add(item: Item, reason: string, times = 1): void {
    const id = groupId(item.group);
    let groups = this.#reasons.get(reason);
    if (groups === undefined) this.#reasons.set(reason, (groups = new Map()));
    const known = groups.get(id);
    if (known === undefined) groups.set(id, { name: item.group.name, count: times, first: item });
    else known.count += times;
  }

  highlights(): Highlight[] {
    const found = [...this.#reasons].map(([reason, groups]) => {
      const parts = [...groups.values()].sort((a, b) => b.count - a.count);
      const count = parts.reduce((sum, part) => sum + part.count, 0);
      const title = this.#title(count);
      return { count, highlight: { look: this.#look, title, reason, parts } };
    });
    return found.sort((a, b) => b.count - a.count).map(({ highlight }) => highlight);
  }
}
