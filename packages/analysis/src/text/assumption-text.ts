import type { WorkloadCounts } from "../input/run-input.js";

/**
 * Returns one line about what was assumed of containers: their duration, that they succeed, or both. Returns `undefined`
 * when annotations, flags, a scenario or a workloads file give both for every workload.
 */
export function assumptionText({ all, withoutDuration, withoutOutcome }: WorkloadCounts): string | undefined {
  const of = (count: number): string =>
    count === all ? "" : ` (${count.toLocaleString("en-US")} of ${all.toLocaleString("en-US")} workloads)`;
  const assumed = [
    ...(withoutDuration > 0
      ? [{ what: "run for 10s", of: of(withoutDuration), flag: "--duration 'NAME=5m..40m'" }]
      : []),
    ...(withoutOutcome > 0 ? [{ what: "succeed", of: of(withoutOutcome), flag: "--fail 'NAME=2%'" }] : []),
  ];
  if (assumed.length === 0) return undefined;
  const isSame = assumed.every((each) => each.of === assumed[0]!.of);
  const what = isSame
    ? `${assumed.map((each) => each.what).join(" and ")}${assumed[0]!.of}`
    : assumed.map((each) => `${each.what}${each.of}`).join(" and ");
  return `Assumed: containers ${what}. Set this with ${assumed.map(({ flag }) => flag).join(" and ")}, or with --workloads FILE, which kubewright learn writes.`;
}
