import { ReportRecorder } from "../report/html-report.js";
import { packData } from "../report/packed-data.js";
import { ONE_OF_MANY } from "../report/report-limits.js";
import { simulate } from "../simulation.js";
import { type FuturePlan, futureSimulation } from "./simulate-future.js";

/** Plays one future and packs its timeline, which is smaller than that of a page of its own, for a page of many futures to hold. */
export async function packedTimeline(plan: FuturePlan, seed: number): Promise<string> {
  const recorder = new ReportRecorder(ONE_OF_MANY);
  await simulate({
    ...futureSimulation(plan, seed),
    emit: (record) => recorder.add(record),
    follow: (informers) => recorder.follow(informers),
  });
  return packData(recorder.data(undefined));
}
