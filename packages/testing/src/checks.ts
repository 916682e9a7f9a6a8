import type { DeepReadonly, KubernetesObject, ResourceDefinition } from "@kubewright/api";

import { conditionText, conditionsOf, eventText, listText, stateText } from "./object-text.js";
import { TestObject } from "./test-object.js";

/**
 * Result of a check. The message states the expectation and the observed state. For a passed check, it is the message
 * of the negated expectation.
 */
export interface Check {
  readonly pass: boolean;
  readonly message: string;
}

/** An expected text: equal to a string, or matching a pattern. */
export type ExpectedText = string | RegExp;

/** An object that was read before, or a reference that the check reads. */
export type Subject = TestObject | DeepReadonly<KubernetesObject>;

export interface ExpectedCondition {
  readonly reason?: ExpectedText;
  readonly message?: ExpectedText;
}

export interface ExpectedEvent {
  /** `Normal` or `Warning`. */
  readonly type?: string;
  readonly reason?: ExpectedText;
  readonly message?: ExpectedText;
  /** The component that recorded the event. */
  readonly component?: ExpectedText;
}

/** @throws Error with the message of a failed check. For `node:test` and other runners without matchers. */
export function assertCheck({ pass, message }: Check): void {
  if (!pass) throw new Error(message);
}

/** Checks that `status.conditions` contains a condition with the type and status. */
export async function checkCondition(
  subject: Subject,
  type: string,
  status: string = "True",
  expected: ExpectedCondition = {},
): Promise<Check> {
  const wanted = `condition ${type}=${status}${expectedText(expected)}`;
  const found = await read(subject);
  if (found.object === undefined) return found.missing(`to have ${wanted}`);
  const conditions = conditionsOf(found.object);
  const pass = conditions.some(
    (each) =>
      each.type === type &&
      each.status === status &&
      matchesExpectation(expected.reason, each.reason) &&
      matchesExpectation(expected.message, each.message),
  );
  const has = `its conditions: ${listText(conditions.map(conditionText))}`;
  if (pass) return { pass, message: `expected ${found.name} not to have ${wanted}; ${has}` };
  const rest = conditions.length === 0 ? `; ${stateText(found.object)}` : "";
  return { pass, message: `expected ${found.name} to have ${wanted}; ${has}${rest}` };
}

/** Checks that a matching event exists for the object. The object may be deleted. */
export async function checkEvent(subject: TestObject, expected: ExpectedEvent): Promise<Check> {
  const events = await subject.events();
  const pass = events.some(
    (event) =>
      (expected.type === undefined || event.type === expected.type) &&
      matchesExpectation(expected.reason, event.reason) &&
      matchesExpectation(expected.message, event.message) &&
      matchesExpectation(expected.component, event.source?.component || event.reportingComponent || undefined),
  );
  const wanted = `an event${expectedText(expected)}`;
  const message = `expected ${String(subject)} ${pass ? "not " : ""}to have ${wanted}; its events: ${listText(events.map(eventText))}`;
  return { pass, message };
}

/** Checks how many objects of a kind the object owns, without those being deleted. Default: at least one. */
export async function checkOwns(subject: TestObject, definition: ResourceDefinition, count?: number): Promise<Check> {
  const found = await read(subject);
  const wanted = `${count ?? "any"} ${definition.resource}`;
  if (found.object === undefined) return found.missing(`to own ${wanted}`);
  const owned = await subject.owned(definition);
  const present = owned.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const pass = count === undefined ? present.length > 0 : present.length === count;
  const names = owned.map(({ metadata: { name, deletionTimestamp } }) =>
    deletionTimestamp === undefined ? (name ?? "") : `${name} (being deleted)`,
  );
  const message = `expected ${found.name} ${pass ? "not " : ""}to own ${wanted}; it owns ${present.length}: ${listText(names)}`;
  return { pass, message };
}

/** Checks that the object has a finalizer. */
export async function checkFinalizer(subject: Subject, finalizer: string): Promise<Check> {
  const found = await read(subject);
  if (found.object === undefined) return found.missing(`to have the finalizer ${finalizer}`);
  const { finalizers = [] } = found.object.metadata;
  const pass = finalizers.includes(finalizer);
  const message = `expected ${found.name} ${pass ? "not " : ""}to have the finalizer ${finalizer}; its finalizers: ${listText(finalizers)}`;
  return { pass, message };
}

/** Checks that the object does not exist. */
export async function checkGone(subject: TestObject): Promise<Check> {
  const found = await read(subject);
  if (found.object === undefined) return { pass: true, message: `expected ${found.name} to exist, but it does not` };
  return { pass: false, message: `expected ${found.name} to be gone, but it exists: ${stateText(found.object)}` };
}

interface Found {
  readonly name: string;
  readonly object: DeepReadonly<KubernetesObject> | undefined;
  /** Returns the failed check for a missing object. */
  readonly missing: (expectation: string) => Check;
}

async function read(subject: Subject): Promise<Found> {
  if (!(subject instanceof TestObject)) {
    const { kind, metadata } = subject;
    const key = [metadata?.namespace, metadata?.name].filter((part) => part !== undefined).join("/");
    if (metadata === undefined) throw new TypeError("a check takes an object of the API, or cluster.object(…)");
    const name = `${kind ?? "object"} ${key}`;
    return { name, object: subject, missing: () => ({ pass: false, message: `${name} does not exist` }) };
  }
  const name = String(subject);
  const object = await subject.find();
  const others = object === undefined ? await subject.siblings() : [];
  const names = others.map(({ metadata }) => metadata.name ?? "");
  const missing = (expectation: string): Check => ({
    pass: false,
    message: `expected ${name} ${expectation}, but it does not exist; others of its kind: ${listText(names)}`,
  });
  return { name, object, missing };
}

function matchesExpectation(expected: ExpectedText | undefined, text: string | undefined): boolean {
  if (expected === undefined) return true;
  return typeof expected === "string" ? text === expected : expected.test(text ?? "");
}

function expectedText(expected: object): string {
  const parts = Object.entries(expected).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key} ${value instanceof RegExp ? String(value) : JSON.stringify(value)}`],
  );
  return parts.length === 0 ? "" : ` with ${parts.join(", ")}`;
}
