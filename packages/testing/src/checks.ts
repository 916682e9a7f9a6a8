import type { DeepReadonly, KubernetesObject, ResourceDefinition } from "@kubewright/api";

import { conditionText, conditionsOf, eventText, listText, stateText } from "./object-text.js";
import { TestObject } from "./test-object.js";

/** Whether something holds. The message says what was expected and what was found; of one that holds, what there is against it. */
export interface Check {
  readonly pass: boolean;
  readonly message: string;
}

/** What a text is to be: equal to this one, or matching. */
export type ExpectedText = string | RegExp;

/** An object that was read, or one to be read now. */
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
  /** Who tells it. */
  readonly component?: ExpectedText;
}

/** @throws Error with the message of a check that does not hold: for `node:test` and others without matchers. */
export function assertCheck({ pass, message }: Check): void {
  if (!pass) throw new Error(message);
}

/** Whether the object's `status.conditions` have one of that type and status. */
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

/** Whether such an event was told about the object, which may be gone by now. */
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

/** Whether the object owns so many objects of a kind that are not being deleted. Default: at least one. */
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

/** Whether the object has a finalizer. */
export async function checkFinalizer(subject: Subject, finalizer: string): Promise<Check> {
  const found = await read(subject);
  if (found.object === undefined) return found.missing(`to have the finalizer ${finalizer}`);
  const { finalizers = [] } = found.object.metadata;
  const pass = finalizers.includes(finalizer);
  const message = `expected ${found.name} ${pass ? "not " : ""}to have the finalizer ${finalizer}; its finalizers: ${listText(finalizers)}`;
  return { pass, message };
}

/** Whether there is no such object any more. */
export async function checkGone(subject: TestObject): Promise<Check> {
  const found = await read(subject);
  if (found.object === undefined) return { pass: true, message: `expected ${found.name} to exist, but it does not` };
  return { pass: false, message: `expected ${found.name} to be gone, but it exists: ${stateText(found.object)}` };
}

interface Found {
  readonly name: string;
  readonly object: DeepReadonly<KubernetesObject> | undefined;
  /** That something is expected of what is not there. */
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
