import type { InformerFactory } from "@kubewright/informer";
import type { ReportData } from "@kubewright/timeline/data";

import type { TraceRecord } from "../run/trace.js";
import { withClockGaps } from "./clock-gaps.js";
import { type RecordedObject, ObjectRecorder, objectsByUid } from "./object-recorder.js";
import { ReportBuilder, type ReportExtras } from "./report-builder.js";
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
   * @param texts - Description of the scenario, if there is one, and what was assumed of containers.
   * @param objects - Objects from other recorders. Default: those of the followed cluster.
   */
  data(
    texts: Pick<ReportExtras, "description" | "assumption">,
    objects: readonly RecordedObject[] = this.#objects.objects,
  ): ReportData {
    return withClockGaps(this.#builder.data({ ...texts, objects: objectsByUid(objects) }));
  }
}
