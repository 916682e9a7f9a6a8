import { type LimitRange, limitRanges, parseQuantity } from "@kubewright/api";
import { qualifiedNameErrors } from "@kubewright/api/validation";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import type { ResourceStrategy } from "../../strategy.js";
import { addInvalid, validateUnique } from "../../validation/rules.js";
import type { Resources } from "../pod/pod-resources.js";
import { allowsOvercommit } from "../pod/resource-names.js";
import { validateContainerResourceName, validateResourceName } from "../pod/resource-validation.js";
import { limitRangeAdmission } from "./admission.js";
import { goFloat } from "./go-float.js";
import { limitRangeTypes } from "./types.js";

type Item = NonNullable<LimitRange["spec"]>["limits"][number];
type Member = "min" | "max" | "default" | "defaultRequest" | "maxLimitRequestRatio";

const TYPES = ["Pod", "Container", "PersistentVolumeClaim"];
const MILLION = 1_000_000n;
const NANO = 1_000_000_000n;
/**
 * The maximum that is compared in thousandths. Ratios of larger amounts are computed with whole amounts. Upstream:
 * `resource.MaxMilliValue`.
 */
const MAX_MILLIS = (2n ** 63n - 1n) / 1000n;

/** Upstream: `pkg/registry/core/limitrange`, `ValidateLimitRange`. */
export const limitRangeStrategy: ResourceStrategy<LimitRange> = {
  applyDefaults(limitRange, stored) {
    const { spec } = limitRange;
    if (!spec?.limits || spec === stored?.spec) return;
    limitRange.spec = { ...spec, limits: spec.limits.map(withDefaults) };
  },
  validate: validateLimitRange,
};

export const limitRangeResource = builtInResource<LimitRange>({
  definition: limitRanges,
  shortNames: ["limits"],
  types: limitRangeTypes,
  strategy: limitRangeStrategy,
  admission: limitRangeAdmission,
});

/** Upstream: `SetDefaults_LimitRangeItem`. */
function withDefaults(item: Item): Item {
  if (item.type !== "Container") return item;
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  return {
    ...item,
    ...(Object.keys(limits).length === 0 ? {} : { default: limits }),
    ...(Object.keys(requests).length === 0 ? {} : { defaultRequest: requests }),
  };
}

function validateLimitRange({ spec }: LimitRange, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, item] of (spec?.limits ?? []).entries()) {
    const path = `spec.limits[${index}]`;
    const type = item.type ?? "";
    validateType(type, `${path}.type`, errors);
    validateUnique(type, seen, `${path}.type`, errors);
    validateNames(item, path, errors);
    for (const name of namesOf(item)) validateBounds(item, name, path, errors);
  }
}

function validateType(type: string, field: string, errors: FieldErrors): void {
  const sentences = qualifiedNameErrors(type);
  addInvalid(errors, field, type, sentences);
  if (sentences.length === 0 && !type.includes("/") && !TYPES.includes(type))
    errors.invalid(field, type, "must be a standard limit type or fully qualified");
}

function validateNames(item: Item, path: string, errors: FieldErrors): void {
  const { type, min, max } = item;
  const isOfPods = type === "Pod";
  const validateName = isOfPods || type === "Container" ? validateContainerResourceName : validateResourceName;
  const validateAll = (member: Member): void => {
    for (const name of Object.keys(item[member] ?? {})) validateName(name, `${path}.${member}[${name}]`, errors);
  };
  validateAll("max");
  validateAll("min");
  for (const member of ["default", "defaultRequest"] as const) {
    if (!isOfPods) validateAll(member);
    else if (Object.keys(item[member] ?? {}).length > 0)
      errors.forbidden(`${path}.${member}`, "may not be specified when `type` is 'Pod'");
  }
  if (type === "PersistentVolumeClaim" && min?.["storage"] === undefined && max?.["storage"] === undefined)
    errors.required(`${path}.limits`, "either minimum or maximum storage value is required, but neither was provided");
  validateAll("maxLimitRequestRatio");
}

/** Returns the resource names sorted. Upstream iterates over a Go map, whose order is random. */
function namesOf(item: Item): string[] {
  const { max, min, maxLimitRequestRatio } = item;
  const defaults = item.type === "Pod" ? {} : { ...item.default, ...item.defaultRequest };
  return Object.keys({ ...max, ...min, ...defaults, ...maxLimitRequestRatio }).sort();
}

function validateBounds(item: Item, name: string, path: string, errors: FieldErrors): void {
  const isOfPods = item.type === "Pod";
  const texts = {
    min: item.min?.[name],
    max: item.max?.[name],
    default: isOfPods ? undefined : item.default?.[name],
    defaultRequest: isOfPods ? undefined : item.defaultRequest?.[name],
  };
  type Bound = keyof typeof texts;
  const exceeds = (less: Bound, more: Bound): boolean =>
    texts[less] !== undefined && texts[more] !== undefined && nanosOf(texts[less]) > nanosOf(texts[more]);
  const check = (less: Bound, more: Bound, member: Bound, shown: Bound, labels: readonly [string, string]): void => {
    if (exceeds(less, more))
      errors.invalid(
        `${path}.${member}[${name}]`,
        texts[shown],
        `${labels[0]} value ${texts[less]} is greater than ${labels[1]} value ${texts[more]}`,
      );
  };
  check("min", "max", "min", "min", ["min", "max"]);
  check("min", "defaultRequest", "defaultRequest", "defaultRequest", ["min", "default request"]);
  check("defaultRequest", "max", "defaultRequest", "defaultRequest", ["default request", "max"]);
  check("defaultRequest", "default", "defaultRequest", "defaultRequest", ["default request", "default limit"]);
  check("min", "default", "default", "min", ["min", "default"]);
  check("default", "max", "default", "max", ["default", "max"]);
  validateRatio(item, name, `${path}.maxLimitRequestRatio[${name}]`, errors);
  const { default: limit, defaultRequest: request } = texts;
  if (limit === undefined || request === undefined || allowsOvercommit(name)) return;
  if (nanosOf(limit) !== nanosOf(request))
    errors.invalid(
      `${path}.defaultRequest[${name}]`,
      request,
      `default value ${limit} must equal to defaultRequest value ${request} in ${name}`,
    );
}

function validateRatio(item: Item, name: string, field: string, errors: FieldErrors): void {
  const ratio = item.maxLimitRequestRatio?.[name];
  if (ratio === undefined) return;
  if (nanosOf(ratio) < NANO) errors.invalid(field, ratio, `ratio ${ratio} is less than 1`);
  const min = item.min?.[name];
  const max = item.max?.[name];
  if (min === undefined || max === undefined) return;
  const scale = [ratio, min, max].every((text) => nanosOf(text) / MILLION < MAX_MILLIS) ? MILLION : NANO;
  const maxRatio = Number(ceilDivide(nanosOf(max), scale)) / Number(ceilDivide(nanosOf(min), scale));
  if (Number(ceilDivide(nanosOf(ratio), scale)) * (Number(scale) / Number(NANO)) > maxRatio)
    errors.invalid(field, ratio, `ratio ${ratio} is greater than max/min = ${goFloat(maxRatio)}`);
}

/** Divides and rounds up, as quantities do. */
function ceilDivide(amount: bigint, by: bigint): bigint {
  return amount >= 0n ? (amount + by - 1n) / by : amount / by;
}

function nanosOf(text: Resources[string]): bigint {
  return parseQuantity(text)?.nanos ?? 0n;
}
