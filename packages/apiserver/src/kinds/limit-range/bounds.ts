import { type LimitRange, type Quantity, formatQuantity } from "@kubewright/api";

import { type Amounts, type Resources, amountsOf } from "../pod/pod-resources.js";
import { goFloat } from "./go-float.js";

type Item = NonNullable<LimitRange["spec"]>["limits"][number];

/** The resources of a container or pod that limits apply to. */
export interface RequestsAndLimits {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

const NOTHING: Amounts = new Map();

/**
 * Returns a message for each violated bound. Upstream: `minConstraint`, `maxConstraint`, `limitRequestRatioConstraint`.
 */
export function boundProblems(item: Item, { requests, limits }: RequestsAndLimits): string[] {
  const { type } = item;
  const problems: string[] = [];
  for (const [name, min] of amountsOf(item.min)) {
    const minText = `minimum ${name} usage per ${type} is ${formatQuantity(min)}`;
    const request = requests.get(name);
    const limit = limits.get(name);
    if (request === undefined) problems.push(`${minText}.  No request is specified`);
    else if (request.nanos < min.nanos) problems.push(`${minText}, but request is ${formatQuantity(request)}`);
    else if (limit !== undefined && limit.nanos < min.nanos)
      problems.push(`${minText}, but limit is ${formatQuantity(limit)}`);
  }
  for (const [name, max] of amountsOf(item.max)) {
    const maxText = `maximum ${name} usage per ${type} is ${formatQuantity(max)}`;
    const request = requests.get(name);
    const limit = limits.get(name);
    if (limit === undefined) problems.push(`${maxText}.  No limit is specified`);
    else if (limit.nanos > max.nanos) problems.push(`${maxText}, but limit is ${formatQuantity(limit)}`);
    else if (request !== undefined && request.nanos > max.nanos)
      problems.push(`${maxText}, but request is ${formatQuantity(request)}`);
  }
  for (const [name, ratio] of amountsOf(item.maxLimitRequestRatio)) {
    const problem = ratioProblem(ratio, requests.get(name), limits.get(name));
    if (problem !== undefined)
      problems.push(`${name} max limit to request ratio per ${type} is ${formatQuantity(ratio)}, but ${problem}`);
  }
  return problems;
}

/**
 * Returns a message for each bound that a claim violates. Claims have no limits. Upstream:
 * `PersistentVolumeClaimValidateLimitFunc`.
 */
export function claimProblems(requests: Resources | undefined, items: readonly Item[]): string[] {
  const amounts = amountsOf(requests);
  return items
    .filter(({ type }) => type === "PersistentVolumeClaim")
    .flatMap(({ type, min, max }) => [
      ...boundProblems({ type, ...(min === undefined ? {} : { min }) }, { requests: amounts, limits: NOTHING }),
      ...[...amountsOf(max)].flatMap(([name, amount]) => {
        const request = amounts.get(name);
        const sentence = `maximum ${name} usage per ${type} is ${formatQuantity(amount)}`;
        if (request === undefined) return [`${sentence}.  No request is specified`];
        return request.nanos > amount.nanos ? [`${sentence}, but request is ${formatQuantity(request)}`] : [];
      }),
    ]);
}

function ratioProblem(ratio: Quantity, request: Quantity | undefined, limit: Quantity | undefined): string | undefined {
  if (request === undefined || request.nanos === 0n) return "no request is specified or request is 0";
  if (limit === undefined || limit.nanos === 0n) return "no limit is specified or limit is 0";
  const isMore = limit.nanos * 1_000_000_000n > ratio.nanos * request.nanos;
  return isMore ? `provided ratio is ${goFloat(Number(limit.nanos) / Number(request.nanos))}` : undefined;
}
