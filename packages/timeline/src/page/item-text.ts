import { durationText } from "./duration-text.js";
import { type Item, LOOK_NAMES, type RunItem, hindrance } from "./item.js";
import type { ZonedTime } from "./zoned-time.js";

/** Returns the name of an item. */
export function itemTitle(item: Item): string {
  return item.type === "ghost" ? `${item.group.name}, skipped` : item.type === "pod" ? item.pod.name : item.row.name;
}

/** Returns the outcome of an item in one or two words. */
export function itemOutcome(item: Item): string {
  if (item.type === "ghost") return LOOK_NAMES.skipped;
  if (item.type === "run") {
    if (item.look === "waiting") return LOOK_NAMES.waiting;
    return item.row.outcome === "Deleted" && wasReplaced(item) ? "Replaced" : item.row.outcome;
  }
  return item.look === "stopped" ? LOOK_NAMES.stopped : item.pod.outcome;
}

/** Returns whether the controller created the next run within a second after this one was deleted. */
function wasReplaced({ group, row }: RunItem): boolean {
  const { endMs } = row;
  if (group.cronJob?.concurrencyPolicy !== "Replace" || endMs === undefined) return false;
  return group.rows.some((next) => next.type === "run" && Math.abs(next.createdMs - endMs) < 1_000);
}

/** Returns the delay between the slot and the start of a run in milliseconds; 0 when it is below one second. */
export function latenessMs(item: Item): number {
  if (item.type !== "run" || item.row.slotMs === undefined) return 0;
  const lateMs = item.row.createdMs - item.row.slotMs;
  return lateMs >= 1_000 ? lateMs : 0;
}

/** Returns the most important facts about an item in one line. */
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
        hindrance(row) === undefined ? "" : `: ${hindrance(row)}`,
      ].join("");
    }
    case "pod":
      return `Pod ${item.pod.name}, ${at}, ${itemOutcome(item)} after ${durationText(item.endMs - item.startMs)}${item.pod.exitCode === undefined ? "" : `, exit code ${item.pod.exitCode}`}`;
    default:
      return item satisfies never;
  }
}
