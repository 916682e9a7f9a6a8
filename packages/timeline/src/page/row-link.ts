import type { ReportData } from "../data/report-data.js";
import { rowTime } from "../data/rows.js";
import { groupId } from "./item.js";

/** Returns the id of a run or ghost by its slot or creation time, or `undefined` when it does not exist. */
export function rowId(
  { groups }: ReportData,
  wanted: { readonly kind: "CronJob" | "Job"; readonly namespace: string; readonly name: string },
  atMs: number,
): string | undefined {
  const group = groups.find((each) => groupId(each) === groupId(wanted));
  const row = group?.rows.find((each) => rowTime(each) === atMs);
  if (group === undefined || row === undefined) return undefined;
  return row.type === "run" ? row.uid : `${groupId(group)}@${atMs}`;
}
