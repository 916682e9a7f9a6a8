import { formatTime } from "@kubewright/api";
import type { AddedNode } from "@kubewright/cluster";

import { addedNodesText } from "./added-nodes-text.js";
import { concurrentLevelsText } from "./concurrent-levels.js";
import type { DigestGroup } from "../digest/run-digest.js";
import { summaryBlock } from "../digest/summary-text.js";
import { foundText } from "./found-text.js";
import { formatDuration } from "../time/duration.js";
import type { Peaks } from "../futures/pod-peaks.js";
import { versionRemark } from "../input/kubernetes-version.js";
import type { FoundObjects } from "../input/input-problem.js";
import { repeatRemark } from "../input/run-start.js";
import type { RunInput } from "../input/run-input.js";
import { eventsText, paragraph } from "../scenario/scenario-heading.js";
import { assumptionText } from "./assumption-text.js";
import type { Style } from "./style.js";
import type { TimelineTotals } from "../timeline/totals.js";
import { legend, summaryText, timelineText } from "./timeline-text.js";
import type { ScenarioEventRecord } from "../run/trace.js";

/** The results of a run for printing. */
export interface RunTextInput {
  readonly input: RunInput;
  /** Simulated time; shorter than requested when the run was stopped. */
  readonly simulatedMs: number;
  readonly groups: readonly DigestGroup[];
  readonly scenarioEvents: readonly ScenarioEventRecord[];
  readonly peaks: Peaks;
  readonly totals: TimelineTotals;
  readonly found: FoundObjects;
  /** Nodes of the cluster in addition to those of the input. Default: the added nodes of the input. */
  readonly addedNodes?: readonly AddedNode[];
}

/** Returns the output of `kubewright run`. */
export function runText(
  run: RunTextInput,
  { style, width }: { readonly style: Style; readonly width: number },
): string {
  const { input, simulatedMs, groups, scenarioEvents, peaks, found, addedNodes = input.addedNodes } = run;
  const { startMs, repeat, seed, scenario, workloads, kubernetesVersion } = input;
  const endMs = startMs + simulatedMs;
  const title = `${formatTime(startMs)} → ${formatTime(endMs)} (${formatDuration(simulatedMs)} of virtual time, seed ${seed}${versionRemark(kubernetesVersion)}${repeatRemark(repeat)})`;
  const blocks = [
    `${style.bold("kubewright")}  ${title}\n${foundText(found)}\n${legend(style)}\n`,
    scenario?.description === undefined ? "" : `${paragraph(scenario.description, width)}\n`,
    assumptionText(workloads) === undefined ? "" : `${assumptionText(workloads)}\n`,
    addedNodes.length > 0 ? `${addedNodesText(addedNodes, width)}\n` : "",
    scenarioEvents.length > 0 ? `${eventsText(scenarioEvents, style)}\n` : "",
    summaryBlock(groups, { startMs, width, style }),
    timelineText(groups, { startMs, endMs, width, style }),
    concurrentLevelsText(peaks, style),
    summaryText(run, style),
  ];
  return blocks.filter((block) => block !== "").join("\n");
}
