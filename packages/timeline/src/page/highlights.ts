import type { ReportData } from "../data/report-data.js";
import { durationText } from "./duration-text.js";
import { type Item, type Look, groupId } from "./item.js";
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

/** Returns the failures and deviations among the filtered items, grouped, the most severe first. */
export function highlights(scene: Scene, data: Pick<ReportData, "events">): Highlight[] {
  const failed = new GroupCounts("failed", "run failed", "runs failed");
  const unschedulable = new GroupCounts("waiting", "pod found no node", "pods found no node");
  const skipped = new GroupCounts("skipped", "run skipped", "runs skipped");
  const late = new GroupCounts("late", "run started late", "runs started late");
  let latestMs = 0;
  for (const item of scene.runs) {
    if (item.type === "ghost") skipped.add(item, withoutJobNames(item.row.reason, item), 1 + (item.row.unlisted ?? 0));
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
    ...failed.highlights(),
    ...unschedulable.highlights(),
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

/** Counts occurrences by reason and by CronJob or Job. */
class GroupCounts {
  readonly #look: Highlight["look"];
  readonly #one: string;
  readonly #many: string;
  readonly #reasons = new Map<string, Map<string, { name: string; count: number; first: Item }>>();

  constructor(look: Highlight["look"], one: string, many: string) {
    this.#look = look;
    this.#one = one;
    this.#many = many;
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
      const title = `${count.toLocaleString("en")} ${count === 1 ? this.#one : this.#many}`;
      return { count, highlight: { look: this.#look, title, reason, parts } };
    });
    return found.sort((a, b) => b.count - a.count).map(({ highlight }) => highlight);
  }
}
