import type { CreationRefusal } from "@kubewright/timeline/data";

/** Upstream: plugin/pkg/admission/resourcequota/controller.go and pkg/quota/v1/evaluator/core/pods.go. */
const QUOTA = /^(?:exceeded|failed) quota: ([^\s,]+?)[,:] /;
/** Upstream: plugin/pkg/admission/limitranger/admission.go. */
const LIMIT_RANGE = /^(?:\[?(?:minimum|maximum) \S+ usage per|\[?\S+ max limit to request ratio per) /;
const POLICY = /^ValidatingAdmissionPolicy '([^']+)' with binding '[^']*' denied/;
const PRIORITY_CLASS = /^no PriorityClass with name (\S+) was found/;
const TERMINATING = /^unable to create new content in namespace (\S+) because/;
const WEBHOOK = /^(?:admission webhook|Internal error occurred: failed calling webhook) "([^"]+)"/;
/** Quotation marks surround the name of the new object, which differs from retry to retry. */
const REFUSED = /^\S+ "[^"]*" is (?:forbidden|invalid): (.*)$/s;

/**
 * Returns why the API server refuses to create a pod or a Job: the refusing object, and its message without the name of
 * the new object. Returns `undefined` for other errors, such as a lost connection.
 */
export function refusalOf(message: string, namespace: string): CreationRefusal | undefined {
  const webhook = WEBHOOK.exec(message)?.[1];
  if (webhook !== undefined) return { object: `webhook ${webhook}`, text: message };
  const text = REFUSED.exec(message)?.[1];
  if (text === undefined) return undefined;
  const object = refusingObject(text, namespace);
  return object === undefined ? { text } : { object, text };
}

function refusingObject(text: string, namespace: string): string | undefined {
  const quota = QUOTA.exec(text)?.[1];
  if (quota !== undefined) return `ResourceQuota ${namespace}/${quota}`;
  if (LIMIT_RANGE.test(text)) return `LimitRange of namespace ${namespace}`;
  const policy = POLICY.exec(text)?.[1];
  if (policy !== undefined) return `ValidatingAdmissionPolicy ${policy}`;
  const priorityClass = PRIORITY_CLASS.exec(text)?.[1];
  if (priorityClass !== undefined) return `PriorityClass ${priorityClass}`;
  const terminating = TERMINATING.exec(text)?.[1];
  return terminating === undefined ? undefined : `Namespace ${terminating}`;
}

/**
 * Returns the part of a refusal that is equal for every refusal of one cause. Quotas also state amounts, which change
 * while the controller retries.
 */
export function causeOf({ object = "", text }: CreationRefusal): string {
  const exceeded = /^(exceeded quota: \S+ requested: )(.*?), used: /.exec(text);
  if (exceeded === null) return `${object} ${text}`;
  const [, start = "", requested = ""] = exceeded;
  return `${object} ${start}${requested.replaceAll(/=[^,]*/g, "")}`;
}
