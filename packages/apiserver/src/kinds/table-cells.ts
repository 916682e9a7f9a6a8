import {
  type KubernetesObject,
  formatLabelSelector,
  type LabelSelector,
  parseTime,
  type PodSpec,
} from "@kubewright/api";

import type { TableCell, TableColumn, TablePrinter } from "../strategy.js";
import { humanDuration } from "./human-duration.js";

/**
 * The cells of a row by column, in order. A trailing `*` marks columns that only `-o wide` shows; `:type` sets a type
 * other than string.
 */
type Cells<T> = Readonly<Record<string, (object: T, nowMs: number) => TableCell>>;

/** Creates a printer. The column `Name` comes first, by default with the object's name. */
export function table<T extends KubernetesObject>(more: Cells<T>): TablePrinter<T> {
  const cells: Cells<T> = { Name: ({ metadata }) => metadata.name ?? "", ...more };
  const cellsInOrder = Object.values(cells);
  return {
    columns: columns(...Object.keys(cells)),
    cells: (object, nowMs) => cellsInOrder.map((cell) => cell(object, nowMs)),
  };
}

/** Creates column definitions in order, named as in {@link table}. */
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

/** The cell `Age`. */
export function ageCell({ metadata }: KubernetesObject, nowMs: number): string {
  return age(metadata.creationTimestamp, nowMs);
}

/** The columns `Containers` and `Images`. */
export function containerColumns<T>(specOf: (object: T) => PodSpec | undefined, mark = "*"): Cells<T> {
  const containers = (object: T): PodSpec["containers"] => specOf(object)?.containers ?? [];
  return {
    [`Containers${mark}`]: (object) =>
      containers(object)
        .map(({ name }) => name)
        .join(","),
    [`Images${mark}`]: (object) =>
      containers(object)
        .map(({ image }) => image ?? "")
        .join(","),
  };
}

export function selectorCell(selector: LabelSelector | undefined): string {
  return formatLabelSelector(selector) || "<none>";
}

/** Returns the first three items, and the number of further items. */
export function firstItemsCell(items: readonly string[]): string {
  const shown = items.slice(0, 3).join(",");
  return items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown;
}
