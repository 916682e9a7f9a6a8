import type { Manifest } from "../../input/manifest.js";
import { simulate } from "../../run/simulation.js";
import type { LintContext } from "../lint-context.js";
import type { LintRemark, LintRule } from "../lint-rule.js";
import { AHEAD_MS } from "../slots.js";
import type { Subject } from "../subject.js";

export const overQuota: LintRule = {
  name: "over-quota",
  level: "error",
  summary: "Pods that a ResourceQuota or a LimitRange of the namespace refuses",
};

const BOUNDS: ReadonlySet<string> = new Set(["ResourceQuota", "LimitRange"]);
/** Simulated time for a Job to create its pods. */
const AFTER_MS = 30_000;

/**
 * Simulates the first run of a CronJob or Job when its namespace has a ResourceQuota or LimitRange. Reports whether
 * they refuse its pods: all of them, or those above a number of concurrent pods.
 */
export async function quotaRemark(
  subject: Subject,
  {
    manifests,
    context,
    timeZoneData,
  }: { readonly manifests: readonly Manifest[]; readonly context: LintContext; readonly timeZoneData: string },
): Promise<LintRemark | undefined> {
  const isBound = ({ object: { kind = "", metadata } }: Manifest): boolean =>
    BOUNDS.has(kind) && (metadata.namespace ?? "default") === subject.namespace;
  const slots = subject.kind === "Job" ? undefined : context.slotsOf(subject);
  if (!manifests.some(isBound) || (subject.kind === "CronJob" && slots === undefined)) return undefined;
  const startMs = slots?.startMs ?? Math.ceil(context.fromMs / 1000) * 1000;
  const firstMs = slots?.schedule.next(startMs) ?? startMs;
  const durationMs = firstMs - startMs + AFTER_MS;
  let refusal: string | undefined;
  let pods = 0;
  await simulate({
    manifests: [...manifests.filter(isBound), subject.manifest],
    startMs,
    durationMs,
    seed: 1,
    timeZoneData,
    emit: (record) => {
      if (refusal !== undefined) return;
      if (record.type === "object" && record.kind === "Pod" && record.change === "ADDED") pods++;
      if (record.type === "event" && record.reason === "FailedCreate") refusal = record.message;
    },
  });
  if (refusal === undefined) return undefined;
  const why = /is forbidden: (.*)$/s.exec(refusal)?.[1] ?? refusal;
  return {
    text: `${pods === 0 ? "no pod can be created" : `of its pods no more than ${pods} can be created at first`}: ${why}`,
    path: [...subject.jobPath, "template", "spec", "containers", 0],
    level: pods === 0 ? "error" : "warning",
    proof: { startMs, durationMs: durationMs - AFTER_MS + AHEAD_MS, shows: "Job FailedCreate" },
  };
}
