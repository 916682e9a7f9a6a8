import type { InformerFactory } from "@kubewright/informer";
import type { ReportData } from "@kubewright/timeline/data";

import type { TraceRecord } from "../run/trace.js";
import { withClockGaps } from "./clock-gaps.js";
import { type RecordedObject, ObjectRecorder, objectsByUid } from "./object-recorder.js";
import { ReportBuilder } from "./report-builder.js";
import { ONE_RUN, type ReportLimits } from "./report-limits.js";

/** Records a run for the page. */
export class ReportRecorder {
  readonly #builder: ReportBuilder;
  readonly #objects: ObjectRecorder;

  constructor(limits: ReportLimits = ONE_RUN) {
    this.#builder = new ReportBuilder(limits);
    this.#objects = new ObjectRecorder(limits.maxObjects);
  }

  /** Records the objects of a cluster from now on. */
  follow(informers: InformerFactory): void {
    this.#objects.follow(informers);
  }

  add(record: TraceRecord): void {
    this.#builder.add(record);
  }

  /**
   * @param description - Description of the scenario, if there is one.
   * @param objects - Objects from other recorders. Default: those of the followed cluster.
   */
  data(description: string | undefined, objects: readonly RecordedObject[] = this.#objects.objects): ReportData {
    return withClockGaps(this.#builder.data({ objects: objectsByUid(objects), description }));
  }
}
