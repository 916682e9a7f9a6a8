import type { RequestSelection } from "../faults/requests.js";
import type { ScenarioEventEntry, ScenarioEventMap } from "../faults/registry.js";
import { durationText, offsetText } from "./duration-text.js";
import type { Subject } from "./workload.js";

/** An event without its time. */
export type EventBody = Omit<ScenarioEventEntry, "at">;

/** Returns an event at a time in milliseconds from the plan's start; an earlier time becomes the start. */
export function at(atMs: number, body: EventBody): ScenarioEventEntry {
  return { at: offsetText(Math.max(0, atMs)), ...body };
}

/** Returns an event that lasts for a time. */
export function during(atMs: number, forMs: number, body: EventBody): ScenarioEventEntry {
  return at(atMs, { for: durationText(forMs), ...body });
}

export const PROPAGATIONS = ["Background", "Foreground", "Orphan"] as const;

export function target({ kind, namespace, name }: Subject): Pick<Subject, "kind" | "namespace" | "name"> {
  return { kind, namespace, name };
}

interface PodTarget {
  readonly kind: "Pod";
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns a target for all pods of a Job, or for those of one index. */
export function podsOf({ namespace, name }: Subject, index?: number): PodTarget {
  const labels: Record<string, string> = { "batch.kubernetes.io/job-name": name };
  if (index !== undefined) labels["batch.kubernetes.io/job-completion-index"] = String(index);
  return { kind: "Pod", namespace, labels };
}

/** Returns the deletion of an object, or of another one of its kind. */
export function deletes(
  subject: Subject,
  propagation: (typeof PROPAGATIONS)[number],
  name: string = subject.name,
): EventBody {
  return { delete: { ...target(subject), name, propagation } };
}

export function deletesPods(pods: PodTarget, gracePeriodSeconds?: number): EventBody {
  return { delete: { ...pods, ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }) } };
}

/** Returns an edit of an object's spec. */
export function edits(subject: Subject, spec: object): EventBody {
  return { patch: { ...target(subject), with: { spec } } };
}

/** Returns an edit of the status of a Job's pods. */
export function editsPodStatus(job: Subject, status: object): EventBody {
  return { patch: { ...podsOf(job), subresource: "status", with: { status } } };
}

type RequestFailure = Omit<ScenarioEventMap["requestFails"], keyof RequestSelection>;

/** Returns a failure of a component's requests of one kind. */
export function refuses(component: string, verb: string, resource: string, failure: RequestFailure = {}): EventBody {
  return { requestFails: { components: [component], verbs: [verb], resources: [resource], ...failure } };
}

/** Finalizer of users and other controllers that blocks a deletion. */
export const FOREIGN_FINALIZER = "example.com/hold";

/** Returns the removal of that finalizer from an object, and of no other. */
export function removesFinalizer(subject: Pick<Subject, "kind" | "namespace" | "name">): EventBody {
  const { kind, namespace, name } = subject;
  const patch = [
    { op: "test", path: "/metadata/finalizers/0", value: FOREIGN_FINALIZER },
    { op: "remove", path: "/metadata/finalizers/0" },
  ];
  return { patch: { kind, namespace, name, type: "json", with: patch } };
}

/** Returns a delay of a component's requests. */
export function slow(component: string, byMs: number): EventBody {
  return { apiServerSlow: { by: durationText(byMs), components: [component] } };
}
