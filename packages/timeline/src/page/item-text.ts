import { durationText } from "./duration-text.js";
import { type Item, LOOK_NAMES, type RunItem } from "./item.js";
import type { ZonedTime } from "./zoned-time.js";

/** What people call it. */
export function itemTitle(item: Item): string {
  return item.type === "ghost" ? `${item.group.name}, skipped` : item.type === "pod" ? item.pod.name : item.row.name;
}

/** What became of it, in a word or two. */
export function itemOutcome(item: Item): string {
  if (item.type === "ghost") return LOOK_NAMES.skipped;
  if (item.type === "run") return item.row.outcome === "Deleted" && wasReplaced(item) ? "Replaced" : item.row.outcome;
  return item.look === "stopped" ? LOOK_NAMES.stopped : item.pod.outcome;
}

/** The controller deletes a run and creates the next in one go. */
function wasReplaced({ group, row }: RunItem): boolean {
  const { endMs } = row;
  if (group.cronJob?.concurrencyPolicy !== "Replace" || endMs === undefined) return false;
  return group.rows.some((next) => next.type === "run" && Math.abs(next.createdMs - endMs) < 1_000);
}

/** How far behind its slot a run began, from a second on. */
export function latenessMs(item: Item): number {
  if (item.type !== "run" || item.row.slotMs === undefined) return 0;
  const lateMs = item.row.createdMs - item.row.slotMs;
  return lateMs >= 1_000 ? lateMs : 0;
}

/** One line with everything that matters most. */
export function itemSummary(item: Item, zone: ZonedTime): string {
  const at = zone.minute(item.startMs);
  switch (item.type) {
    case "ghost":
      return `Skipped run of ${item.group.name}, due ${at}: ${item.row.reason}`;
    case "run": {
      const { row } = item;
      const late = latenessMs(item);
      return [
        `Run ${row.name}, ${at}, ${itemOutcome(item)}`,
        ` after ${durationText(item.endMs - item.startMs)}`,
        late > 0 ? `, started ${durationText(late)} late` : "",
        row.reason === undefined || row.outcome !== "Failed" ? "" : `: ${row.reason}`,
      ].join("");
    }
    case "pod":
      return `Pod ${item.pod.name}, ${at}, ${itemOutcome(item)} after ${durationText(item.endMs - item.startMs)}${item.pod.exitCode === undefined ? "" : `, exit code ${item.pod.exitCode}`}`;
    default:
      return item satisfies never;
  }
}
