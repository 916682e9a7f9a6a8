import { type ResourceQuota, resourceQuotas } from "@kubewright/api";

import { forbidden } from "../../api-error.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.js";
import type { StoredObject } from "../../storage/stored-object.js";
import { type Amounts, amountsOf } from "../pod/pod-resources.js";
import { maskAmounts, amountsText, differenceOf, sumOf, withoutZeros } from "./amounts.js";
import { type Evaluator, evaluatorOf } from "./evaluators.js";

/**
 * Refuses requests that exceed a quota of the namespace. The plugin runs last. Requests are charged only when the
 * object is stored, so refused requests and dry runs are never charged.
 *
 * Upstream charges before it stores, and its controller has to recount when the object already exists.
 *
 * Upstream: plugin `ResourceQuota`.
 */
export const resourceQuotaAdmission: AdmissionPlugin = {
  isLast: true,
  // Resources that are not stored are not counted.
  concerns: (resource) => resource.namespaced && resource.verbs.has("list"),
  isIdle: (server) => (server.registry.storageOf(resourceQuotas)?.size ?? 0) === 0,
  validate(attributes) {
    const { operation, namespace, resource, server } = attributes;
    if (operation === "DELETE" || namespace === "") return;
    const quotas = server.registry.storageOf(resourceQuotas)?.list(namespace) ?? [];
    if (quotas.length === 0) return;
    const evaluator = evaluatorOf(resource);
    if (!evaluator.handles(attributes)) return;
    check(attributes, evaluator, quotas);
    server.quotas.follow(resource, namespace);
  },
};

/**
 * Checks a request against the quotas that count it. Upstream: `CheckRequest`.
 *
 * @throws ApiError 403 when a quota would be exceeded
 */
function check(attributes: AdmissionAttributes, evaluator: Evaluator, quotas: readonly StoredObject[]): void {
  const { resource, name, object } = attributes;
  const refuse = (reason: string): never => {
    throw forbidden(resource, name, reason);
  };
  const counting = quotas.filter((stored) => {
    const { metadata, spec = {}, status } = stored.object as ResourceQuota;
    const limited = Object.keys(status?.hard ?? {}).filter((counted) => evaluator.counts(counted));
    if (limited.length === 0 || !evaluator.isInScope(object!, spec)) return false;
    const refusal = evaluator.constraintError?.(object!, limited);
    if (refusal !== undefined) refuse(`failed quota: ${metadata.name}: ${refusal}`);
    const unknown = limited.filter((counted) => status?.used?.[counted] === undefined).sort();
    if (unknown.length > 0) refuse(`status unknown for quota: ${metadata.name}, resources: ${unknown.join(",")}`);
    return true;
  });
  if (counting.length === 0) return;
  const delta = deltaOf(attributes, evaluator, refuse);
  if (delta.size === 0) return;
  for (const { object: quota } of counting) {
    const { metadata, status } = quota as ResourceQuota;
    const hard = amountsOf(status?.hard);
    const used = amountsOf(status?.used);
    const requested = maskAmounts(delta, new Set(hard.keys()));
    const next = sumOf(used, requested);
    const exceeded = new Set(
      [...requested.keys()].filter((counted) => next.get(counted)!.nanos > hard.get(counted)!.nanos),
    );
    if (exceeded.size > 0) {
      const text = (amounts: Amounts): string => amountsText(maskAmounts(amounts, exceeded));
      refuse(
        `exceeded quota: ${metadata.name}, requested: ${text(requested)}, used: ${text(used)}, limited: ${text(hard)}`,
      );
    }
  }
}

/**
 * Returns the usage that the request adds to the stored object.
 *
 * @throws ApiError 403 when the usage is negative
 */
function deltaOf(
  { object, oldObject }: AdmissionAttributes,
  evaluator: Evaluator,
  refuse: (reason: string) => never,
): Amounts {
  const usage = evaluator.usage(object!);
  const negative = [...usage].filter(([, { nanos }]) => nanos < 0n).map(([counted]) => counted);
  if (negative.length > 0) refuse(`quota usage is negative for resource(s): ${negative.sort().join(",")}`);
  return withoutZeros(oldObject === undefined ? usage : differenceOf(usage, evaluator.usage(oldObject)));
}
