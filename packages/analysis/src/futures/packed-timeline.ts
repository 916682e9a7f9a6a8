import { ReportRecorder } from "../html-report/report-recorder.js";
import { packData } from "../html-report/packed-data.js";
import { ONE_OF_MANY } from "../html-report/report-limits.js";
import { simulate } from "../run/simulation.js";
import { type FuturePlan, futureSimulation } from "./simulate-future.js";

/**
 * Simulates one seed and packs its timeline for a futures page. The timeline is smaller than that of a page of one run.
 */
export async function packedTimeline(plan: FuturePlan, seed: number): Promise<string> {
  const recorder = new ReportRecorder(ONE_OF_MANY);
  await simulate({
    ...futureSimulation(plan, seed),
    emit: (record) => recorder.add(record),
    follow: (informers) => recorder.follow(informers),
  });
  return packData(recorder.data({}));
}
