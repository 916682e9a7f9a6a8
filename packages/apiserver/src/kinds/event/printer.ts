import type { Event } from "@kubewright/api";

import type { TableCell } from "../../strategy.js";
import { age, columns } from "../table-cells.js";

export const eventColumns = columns(
  "Last Seen",
  "Type",
  "Reason",
  "Object",
  "Subobject*",
  "Source*",
  "Message",
  "First Seen*",
  "Count*",
  "Name*",
);

/** Upstream: `printEvent` in `pkg/printers/internalversion`. */
export function eventCells(event: Event, nowMs: number): readonly TableCell[] {
  const { involvedObject, series, source } = event;
  const firstSeen = age(event.firstTimestamp || event.eventTime, nowMs);
  const lastTime = series ? series.lastObservedTime : event.lastTimestamp;
  const kind = (involvedObject?.kind ?? "").toLowerCase();
  const component = source?.component || event.reportingComponent || "";
  const host = source?.host || event.reportingInstance || "";
  return [
    lastTime ? age(lastTime, nowMs) : firstSeen,
    event.type ?? "",
    event.reason ?? "",
    involvedObject?.name ? `${kind}/${involvedObject.name}` : kind,
    involvedObject?.fieldPath ?? "",
    host === "" ? component : `${component}, ${host}`,
    (event.message ?? "").trim(),
    firstSeen,
    (series ? series.count : event.count) || 1,
    event.metadata.name ?? "",
  ];
}
