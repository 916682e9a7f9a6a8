import type { DeepReadonly, Event, KubernetesObject } from "@kubewright/api";

/** Maximum number of displayed characters of a status. */
const MAX_STATUS_TEXT = 600;

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** `Complete=True (Reached: all done)` */
export function conditionText({ type, status, reason, message }: Condition): string {
  const why = [reason, message].filter((part) => part !== undefined && part !== "").join(": ");
  return why === "" ? `${type}=${status}` : `${type}=${status} (${why})`;
}

export function conditionsOf(object: DeepReadonly<KubernetesObject>): readonly Condition[] {
  const { status } = object as { readonly status?: { readonly conditions?: unknown } };
  return Array.isArray(status?.conditions) ? (status.conditions as Condition[]) : [];
}

/** Summarizes an object: its status, deletion time and finalizers. */
export function stateText(object: DeepReadonly<KubernetesObject>): string {
  const { status } = object as { readonly status?: object };
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  const parts = [`status ${shortened(status === undefined ? "none" : JSON.stringify(status))}`];
  if (deletionTimestamp !== undefined) parts.push(`deleted at ${deletionTimestamp}`);
  if (finalizers.length > 0) parts.push(`finalizers ${finalizers.join(", ")}`);
  return parts.join("; ");
}

/** `Normal Started: Created Job default/a (backup-controller, 3 times)` */
export function eventText({
  type,
  reason,
  message,
  source,
  reportingComponent,
  count,
  series,
}: DeepReadonly<Event>): string {
  const from = source?.component || reportingComponent || "";
  const times = series?.count ?? count ?? 1;
  const origin = [from, ...(times > 1 ? [`${times} times`] : [])].filter((part) => part !== "").join(", ");
  return `${type ?? ""} ${reason ?? ""}: ${message ?? ""}${origin === "" ? "" : ` (${origin})`}`.trim();
}

/** `a; b; c`, or `none`. */
export function listText(texts: readonly string[]): string {
  return texts.length === 0 ? "none" : texts.join("; ");
}

function shortened(text: string): string {
  return text.length <= MAX_STATUS_TEXT ? text : `${text.slice(0, MAX_STATUS_TEXT)}…`;
}
