import { formatDuration } from "../../time/duration.js";
import type { LintRule } from "../lint-rule.js";
import { goDuration } from "../proof-command.js";
import { AHEAD_MS, lengthOf, startBefore } from "../slots.js";
import { type RunLength, numberIn } from "../subject.js";

const DAY_MS = 24 * 3_600_000;

export const shortDeadline: LintRule = {
  name: "short-deadline",
  level: "warning",
  summary: "A startingDeadlineSeconds under 10: the controller may not look that often",
  check: ({ cronJob }) => {
    const deadline = numberIn(cronJob?.startingDeadlineSeconds);
    if (deadline === undefined || deadline >= 10) return [];
    const text = `a startingDeadlineSeconds of ${deadline} leaves the controller, which checks every 10 seconds, too little time: runs may be missed; give it 10 at least`;
    return [{ text, path: ["spec", "startingDeadlineSeconds"] }];
  },
};

export const forbidSkips: LintRule = {
  name: "forbid-skips",
  level: "warning",
  summary: "Forbid with a deadline shorter than the period: a long run makes the next be skipped",
  // How long runs take is unknown in most manifests. A run of a day or more would be unusual.
  check: (subject, context) => {
    const { cronJob, job, runs, namespace, name } = subject;
    const deadline = numberIn(cronJob?.startingDeadlineSeconds);
    const slots = context.slotsOf(subject);
    if (cronJob?.concurrencyPolicy !== "Forbid" || deadline === undefined || slots === undefined) return [];
    const { shortest } = slots;
    const periodMs = lengthOf(shortest);
    const boundMs = periodMs + deadline * 1000;
    const capMs = (numberIn(job.activeDeadlineSeconds) ?? Infinity) * 1000;
    if (deadline * 1000 >= periodMs || capMs <= boundMs) return [];
    if (runs === undefined ? periodMs >= DAY_MS : runs.maxMs <= boundMs) return [];
    const always = runs !== undefined && runs.minMs > boundMs;
    const text = always
      ? `runs take ${formatDuration(runs.minMs)} at the least, which is beyond the next slot's deadline: it is skipped`
      : `a run that takes more than ${formatDuration(boundMs)} makes the next be skipped`;
    const object = `${namespace}/${name}`;
    return [
      {
        text: `${text}: Forbid waits for it, and startingDeadlineSeconds for ${formatDuration(deadline * 1000)}; make that ${periodMs / 1000} or more, or activeDeadlineSeconds less`,
        path: ["spec", "startingDeadlineSeconds"],
        proof: {
          startMs: startBefore(shortest, slots),
          durationMs: shortest.toMs + deadline * 1000 + AHEAD_MS - startBefore(shortest, slots),
          flags: [
            ...(always ? [] : ["--duration", `${object}=${goDuration(boundMs + 2 * AHEAD_MS)}`]),
            "--fail-on",
            `${object}:skipped`,
          ],
          shows: `skipped: ${object}`,
        },
      },
    ];
  },
};

export const overlappingRuns: LintRule = {
  name: "overlapping-runs",
  level: "warning",
  summary: "Allow with runs that are longer than the period: they pile up",
  check: (subject, context) => {
    const { cronJob, runs, namespace, name } = subject;
    const slots = context.slotsOf(subject);
    const policy = cronJob?.concurrencyPolicy ?? "Allow";
    if (policy !== "Allow" || runs === undefined || slots === undefined) return [];
    const { shortest } = slots;
    const periodMs = lengthOf(shortest);
    const path = ["spec", cronJob?.concurrencyPolicy === undefined ? "schedule" : "concurrencyPolicy"];
    const fix = "space them, or choose Forbid or Replace";
    if (runs.minMs > periodMs) {
      const startMs = startBefore(shortest, slots);
      return [
        {
          text: `runs take ${formatDuration(runs.minMs)} at the least and the next is due after ${formatDuration(periodMs)}: they are active side by side (Allow); ${fix}`,
          path,
          proof: {
            startMs,
            durationMs: shortest.toMs + AHEAD_MS - startMs,
            flags: ["--fail-on", `${namespace}/${name}:overlap`],
            shows: `overlap: ${namespace}/${name}`,
          },
        },
      ];
    }
    if (runs.maxMs <= periodMs) return [];
    const text = `runs may take ${longest(runs)} and the next is due after ${formatDuration(periodMs)}: they may be active side by side (Allow); kubewright run --seeds 1-1000 shows how often`;
    return [{ text, path, level: "note" }];
  },
};

export const replaceNeverFinishes: LintRule = {
  name: "replace-never-finishes",
  level: "error",
  summary: "Replace with runs that are longer than the period: none of them finishes",
  check: (subject, context) => {
    const { cronJob, runs } = subject;
    const slots = context.slotsOf(subject);
    if (cronJob?.concurrencyPolicy !== "Replace" || runs === undefined || slots === undefined) return [];
    const { shortest, longest: widest } = slots;
    const path = ["spec", "concurrencyPolicy"];
    if (runs.minMs <= lengthOf(shortest)) {
      if (runs.maxMs <= lengthOf(shortest)) return [];
      const text = `runs may take ${longest(runs)} and are replaced after ${formatDuration(lengthOf(shortest))}: some may never finish; kubewright run --seeds 1-1000 shows how often`;
      return [{ text, path, level: "note" }];
    }
    const never = runs.minMs > lengthOf(widest);
    const startMs = startBefore(shortest, slots);
    return [
      {
        level: never ? "error" : "warning",
        text: `runs take ${formatDuration(runs.minMs)} at the least and are replaced after ${formatDuration(lengthOf(shortest))}: ${never ? "none ever finishes" : "those that are followed that soon do not finish"}; choose Forbid, or a longer period`,
        path,
        proof: { startMs, durationMs: shortest.toMs + AHEAD_MS - startMs, shows: "replaced by" },
      },
    ];
  },
};

function longest({ maxMs }: RunLength): string {
  return maxMs === Infinity ? "any time" : formatDuration(maxMs);
}
