import { formatDuration } from "../../time/duration.js";
import type { LintRule } from "../lint-rule.js";
import { lengthOf } from "../slots.js";
import { numberIn } from "../subject.js";

export const hiddenFailures: LintRule = {
  name: "hidden-failures",
  level: "warning",
  summary: "A history limit that keeps no failed Job",
  check: ({ cronJob }) => {
    if (cronJob?.failedJobsHistoryLimit !== 0) return [];
    const text =
      "a failedJobsHistoryLimit of 0 removes failed Jobs, with their pods and logs, as soon as they fail, so the cause is lost; keep at least 1";
    return [{ text, path: ["spec", "failedJobsHistoryLimit"] }];
  },
};

const LIMITS = [
  ["failedJobsHistoryLimit", 1],
  ["successfulJobsHistoryLimit", 3],
] as const;

export const ttlBeforeHistory: LintRule = {
  name: "ttl-before-history",
  level: "warning",
  summary: "A ttlSecondsAfterFinished that removes Jobs before a history limit does",
  check: (subject, context) => {
    const { cronJob, job, jobPath } = subject;
    const ttl = numberIn(job.ttlSecondsAfterFinished);
    const slots = cronJob === undefined || ttl === undefined ? undefined : context.slotsOf(subject);
    if (cronJob === undefined || ttl === undefined || slots === undefined) return [];
    const periodMs = lengthOf(slots.shortest);
    const under = LIMITS.map(([name, byDefault]) => ({
      name,
      isSet: cronJob[name] != null,
      limit: numberIn(cronJob[name]) ?? byDefault,
    })).filter(({ limit }) => ttl * 1000 < limit * periodMs);
    const set = under.filter(({ isSet }) => isSet);
    const [first] = set.length > 0 ? set : under;
    if (first === undefined) return [];
    const { name, limit, isSet } = first;
    const text = `a ttlSecondsAfterFinished of ${ttl} removes Jobs before ${name}: ${limit}${isSet ? "" : ", the default,"} does, which with a period of ${formatDuration(periodMs)} keeps them longer; leave out one of the two`;
    return [{ text, path: [...jobPath, "ttlSecondsAfterFinished"], level: isSet ? "warning" : "note" }];
  },
};
