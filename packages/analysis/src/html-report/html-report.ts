import type { InformerFactory } from "@kubewright/informer";
import type { PageData, ReportData } from "@kubewright/timeline/data";

import type { Files, OutputFile } from "../ports/files.js";
import { openOutput } from "../ports/open-output.js";
import type { TraceRecord } from "../run/trace.js";
import { UserError } from "../errors/user-error.js";
import { withClockGaps } from "./clock-gaps.js";
import { htmlPage } from "./html-page.js";
import { type RecordedObject, ObjectRecorder, objectsByUid } from "./object-recorder.js";
import type { PageAssets } from "./page-assets.js";
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

/** The page as one HTML file that needs neither a server nor a network. */
export class HtmlReport {
  readonly #file: OutputFile;
  readonly #assets: PageAssets;

  private constructor(file: OutputFile, assets: PageAssets) {
    this.#file = file;
    this.#assets = assets;
  }

  /** @throws UserError when the file cannot be written. */
  static async open(path: string, io: Pick<Files, "openFile" | "pageAssets">): Promise<HtmlReport> {
    const assets = await pageAssets(io);
    return new HtmlReport(await openOutput("--html", path, io), assets);
  }

  /** @param lazyData - Packed data that the page unpacks on demand, by element ID. */
  async write(data: PageData, lazyData?: ReadonlyMap<string, string>): Promise<void> {
    await this.#file.write(await htmlPage(this.#assets, data, lazyData));
    await this.#file.close();
  }

  /** Closes the file and leaves the previous report unchanged. */
  discard(): Promise<void> {
    return this.#file.discard();
  }
}

/** @throws UserError when this build has no page. */
export async function pageAssets(io: Pick<Files, "pageAssets">): Promise<PageAssets> {
  if (io.pageAssets === undefined) throw new UserError("this build of kubewright has no page");
  return io.pageAssets();
}
