export { MEASURES, loadCurves } from "../spread/load-curves.js";
export { movedManifests, patchText, scheduleChanges } from "../spread/moved-manifests.js";
export { checkSelected, parseSelections, precedencesOf } from "../spread/order-flags.js";
export { PrecedenceError, proposeMinutes } from "../spread/propose.js";
export { overhangMs, runsWithin, scheduledLoads } from "../spread/scheduled-load.js";
export { simulateSpread } from "../spread/simulate-spread.js";
export { spreadJson } from "../spread/spread-json.js";
export { spreadReport } from "../spread/spread-report.js";
export { spreadText } from "../spread/spread-text.js";
export { stampedes } from "../spread/stampedes.js";

export type { Measure } from "../spread/load-curves.js";
export type { Precedence, SpreadPlan } from "../spread/propose.js";
export type { ScheduledLoad, SpreadWindow } from "../spread/scheduled-load.js";
export type { SimulateSpreadOptions, SpreadResult } from "../spread/simulate-spread.js";
export type { SpreadFindings } from "../spread/spread-text.js";
