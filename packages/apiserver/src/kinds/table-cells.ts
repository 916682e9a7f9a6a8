import { formatLabelSelector, type LabelSelector, parseTime, type PodSpec } from "@kubewright/api";

import type { TableColumn } from "../strategy.js";
import { humanDuration } from "./human-duration.js";

/**
 * Creates column definitions in order. A trailing `*` marks columns that only `-o wide` shows; `:type` sets a type
 * other than string.
 */
export function columns(...names: readonly string[]): readonly TableColumn[] {
  return names.map((text) => {
    const wide = text.endsWith("*");
    const [name = "", type = "string"] = (wide ? text.slice(0, -1) : text).split(":");
    return {
      name,
      type: type as TableColumn["type"],
      ...(name === "Name" ? { format: "name" } : {}),
      ...(wide ? { priority: 1 } : {}),
    };
  });
}

/** Formats the time since an API time; `<unknown>` when absent. */
export function age(time: string | null | undefined, nowMs: number): string {
  const thenMs = parseTime(time);
  return thenMs === undefined ? "<unknown>" : humanDuration(nowMs - thenMs);
}

/** The cells `Containers` and `Images`. */
export function containerCells(spec: PodSpec | undefined): [names: string, images: string] {
  const containers = spec?.containers ?? [];
  return [containers.map(({ name }) => name).join(","), containers.map(({ image }) => image ?? "").join(",")];
}

export function selectorCell(selector: LabelSelector | undefined): string {
  return formatLabelSelector(selector) || "<none>";
}

/** Returns the first three items, and the number of further items. */
export function firstItemsCell(items: readonly string[]): string {
  const shown = items.slice(0, 3).join(",");
  return items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown;
}
