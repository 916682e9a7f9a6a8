import { type LiveState, liveState } from "../../input/live-state.js";
import type { Manifest } from "../../input/manifest.js";
import { simulate } from "../../run/simulation.js";
import type { LintRule } from "../lint-rule.js";

export const removedVersion: LintRule = {
  name: "removed-version",
  level: "error",
  summary: "An apiVersion that Kubernetes has removed, or never had",
};

export const unknownField: LintRule = {
  name: "unknown-field",
  level: "error",
  summary: "A field that Kubernetes does not know",
};

export const restartPolicy: LintRule = {
  name: "restart-policy",
  level: "error",
  summary: "A restartPolicy that is missing or Always: Jobs take Never and OnFailure",
};

export const longName: LintRule = {
  name: "long-name",
  level: "error",
  summary: "A name over 52 characters, to which a Job's would have to be added",
};

export const refused: LintRule = {
  name: "refused",
  level: "error",
  summary: "Something else that the API server refuses",
};

/** A refusal of one object by the API server. */
export interface Refusal {
  readonly rule: LintRule;
  /** `jobs.yaml:6:13`; empty for a refusal without a place. */
  readonly place: string;
  /** The object in the message: `CronJob billing/report`. */
  readonly subject: string;
  readonly text: string;
}

const RULES: readonly (readonly [RegExp, LintRule])[] = [
  [/^apiVersion: |^there is no \w+ in \S+; write apiVersion/, removedVersion],
  [/: unknown field/, unknownField],
  [/\.restartPolicy: /, restartPolicy],
  [/^metadata\.name: .*must be no more than/, longName],
];

const RESTART_HINT = "; pods restart for good where it is missing, and a Job is to come to an end";

/** Creates all objects in an API server, as `kubectl apply` would, and returns its refusals. */
export async function refusals(
  manifests: readonly Manifest[],
  { fromMs, timeZoneData }: { readonly fromMs: number; readonly timeZoneData: string },
): Promise<readonly Refusal[]> {
  const live: LiveState | undefined = liveState(manifests);
  let lines: readonly string[] = [];
  await simulate({
    manifests,
    startMs: fromMs,
    durationMs: 0,
    seed: 1,
    timeZoneData,
    emit: () => {},
    onCreated: ({ problems }) => (lines = problems.map(({ message }) => message)),
    ...(live === undefined ? {} : { live }),
  });
  return lines.flatMap((line) => {
    const [, place = "", subject = "", text = line] = /^(\S.*?:\d+(?::\d+)?): (\w+ \S+): (.*)$/s.exec(line) ?? [];
    // The rule zone-in-schedule reports it, also for objects that a cluster accepted in an earlier version.
    if (/^spec\.schedule: .*TZ/.test(text)) return [];
    const rule = RULES.find(([pattern]) => pattern.test(text))?.[1] ?? refused;
    return [{ rule, place, subject, text: `${text}${rule === restartPolicy ? RESTART_HINT : ""}` }];
  });
}
