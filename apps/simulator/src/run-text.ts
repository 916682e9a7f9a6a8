import { formatTime } from "@kubewright/api";
import type { AddedNode } from "@kubewright/cluster";

import { addedNodesText } from "./added-nodes-text.js";
import { atOnceText } from "./at-once.js";
import type { DigestGroup } from "./digest/run-digest.js";
import { summaryBlock } from "./digest/summary-text.js";
import { formatDuration } from "./duration.js";
import type { Peaks } from "./futures/pod-peaks.js";
import { versionRemark } from "./kubernetes-version.js";
import type { RunInput } from "./run-input.js";
import { happeningsText, paragraph } from "./scenario/scenario-heading.js";
import type { Style } from "./style.js";
import type { TimelineTotals } from "./timeline/totals.js";
import { legend, summaryText, timelineText } from "./timeline-text.js";
import type { ScenarioEventRecord } from "./trace.js";

/** What a run came to. */
export interface RunToTell {
  readonly input: RunInput;
  /** Less than was to be played when it was stopped. */
  readonly playedMs: number;
  readonly groups: readonly DigestGroup[];
  readonly happenings: readonly ScenarioEventRecord[];
  readonly peaks: Peaks;
  readonly totals: TimelineTotals;
  /** Nodes that the cluster had beside those of the input. Default: those that the input tells. */
  readonly addedNodes?: readonly AddedNode[];
}

/** What `kubewright run` prints. */
export function runText(run: RunToTell, { style, width }: { readonly style: Style; readonly width: number }): string {
  const { input, playedMs, groups, happenings, peaks, addedNodes = input.addedNodes } = run;
  const { startMs, seed, scenario, workloads, kubernetesVersion } = input;
  const endMs = startMs + playedMs;
  const title = `${formatTime(startMs)} → ${formatTime(endMs)} (${formatDuration(playedMs)} of virtual time, seed ${seed}${versionRemark(kubernetesVersion)})`;
  const blocks = [
    `${style.bold("kubewright")}  ${title}\n${legend(style)}\n`,
    scenario?.description === undefined ? "" : `${paragraph(scenario.description, width)}\n`,
    workloads.withoutDuration > 0 ? `${durationsAssumed(workloads)}\n` : "",
    addedNodes.length > 0 ? `${addedNodesText(addedNodes, width)}\n` : "",
    happenings.length > 0 ? `${happeningsText(happenings, style)}\n` : "",
    summaryBlock(groups, { startMs, width, style }),
    timelineText(groups, { startMs, endMs, width, style }),
    atOnceText(peaks, style),
    summaryText(run, style),
  ];
  return blocks.filter((block) => block !== "").join("\n");
}

function durationsAssumed({ all, withoutDuration }: RunInput["workloads"]): string {
  const which = withoutDuration === all ? "Nothing says" : `Of ${withoutDuration} of ${all} workloads nothing says`;
  return `${which} how long containers run: 10s was assumed. Say it with --duration 'NAME=5m..40m' or --workloads FILE, which kubewright learn writes.`;
}
