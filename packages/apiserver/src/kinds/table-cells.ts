import { formatLabelSelector, type LabelSelector, parseTime, type PodSpec } from "@kubewright/api";

import type { TableColumn } from "../strategy.js";
import { humanDuration } from "./human-duration.js";

/** Column definitions in order; a trailing `*` marks those only `-o wide` shows, a trailing `:type` a type that is no string. */
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

/** How long ago an API time was; `<unknown>` for none. */
export function age(time: string | null | undefined, nowMs: number): string {
  const thenMs = parseTime(time);
  return thenMs === undefined ? "<unknown>" : humanDuration(nowMs - thenMs);
}

/** Cells `Containers` and `Images`. */
export function containerCells(spec: PodSpec | undefined): [names: string, images: string] {
  const containers = spec?.containers ?? [];
  return [containers.map(({ name }) => name).join(","), containers.map(({ image }) => image ?? "").join(",")];
}

export function selectorCell(selector: LabelSelector | undefined): string {
  return formatLabelSelector(selector) || "<none>";
}

/** The first three, and how many more there are. */
export function firstItemsCell(items: readonly string[]): string {
  const shown = items.slice(0, 3).join(",");
  return items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown;
}
