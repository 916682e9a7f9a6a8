import type { FuturesReport } from "../report/futures-report.js";
import type { ReportData } from "../report/report-data.js";
import type { PlayOptions, PlayRequest } from "./play-request.js";
import type { Problem } from "./problem.js";

export type { FuturesReport } from "../report/futures-report.js";
export type { ReportData } from "../report/report-data.js";
export type { PlayOptions, PlayRequest } from "./play-request.js";
export type { Problem } from "./problem.js";

/** What became of a request. */
export interface Played {
  /** What the page shows. Absent when nothing could be played: the problems say why. */
  readonly report?: ReportData;
  /** What `kubewright run` prints, without colours. */
  readonly summary: string;
  /** In the order of the documents. */
  readonly problems: readonly Problem[];
  /** The command that does the same, with `manifests.yaml`, `scenario.yaml` and `workloads.yaml` for the texts. */
  readonly command: string;
}

/** What became of many futures. */
export interface PlayedFutures {
  /** Absent when nothing could be played. */
  readonly report?: FuturesReport;
  readonly summary: string;
  readonly problems: readonly Problem[];
  readonly command: string;
}

/** The page's script and style as `@kubewright/timeline` has them: `page.js` and `page.css`. */
export interface PageFiles {
  readonly script: string;
  readonly style: string;
}

export function play(_request: PlayRequest, _options?: PlayOptions): Promise<Played> {
  return Promise.reject(new Error("not there yet"));
}

/** @param request - `seeds` as `--seeds` takes them: `1-100`. */
export function playFutures(
  _request: PlayRequest & { readonly seeds: string },
  _options?: PlayOptions,
): Promise<PlayedFutures> {
  return Promise.reject(new Error("not there yet"));
}

/** What is wrong, without playing. */
export function check(
  _request: Pick<PlayRequest, "manifests" | "scenario" | "workloads" | "kubernetesVersion">,
): Promise<readonly Problem[]> {
  return Promise.reject(new Error("not there yet"));
}

/** The bytes that `kubewright run --json` writes. @throws UserError when there are errors, a line for each. */
export function trace(_request: PlayRequest, _options?: PlayOptions): Promise<string> {
  return Promise.reject(new Error("not there yet"));
}

/** The file that `kubewright run --html` writes. @throws UserError when there are errors, a line for each. */
export function htmlReport(
  _request: PlayRequest,
  _options: PlayOptions & { readonly page: PageFiles },
): Promise<string> {
  return Promise.reject(new Error("not there yet"));
}
