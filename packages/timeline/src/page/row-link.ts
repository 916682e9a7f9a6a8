import type { ReportData } from "../data/report-data.js";
import { rowTime } from "../data/rows.js";
import { groupId } from "./item.js";

/** The id of a CronJob's or Job's run, or of the ghost of one, by its slot or when it was created; `undefined` when it is not there. */
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
