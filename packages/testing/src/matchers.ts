import type { ResourceDefinition } from "@kubewright/api";

import {
  type Check,
  type ExpectedCondition,
  type ExpectedEvent,
  type Subject,
  checkCondition,
  checkEvent,
  checkFinalizer,
  checkGone,
  checkOwns,
} from "./checks.js";
import type { TestObject } from "./test-object.js";

/** What `expect.extend` of vitest and jest wants of a matcher. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/** For `expect.extend`. All of them read the cluster: await them. `@kubewright/testing/vitest` does it, with their types. */
export const matchers = {
  /** The object has a condition of that type and status (default `True`). */
  toHaveCondition: async (subject: Subject, type: string, status?: string, expected?: ExpectedCondition) =>
    result(await checkCondition(subject, type, status, expected)),
  /** Such an event was told about the object. */
  toHaveEvent: async (subject: TestObject, expected: ExpectedEvent) => result(await checkEvent(subject, expected)),
  /** The object owns so many (default: any) objects of a kind. */
  toOwn: async (subject: TestObject, definition: ResourceDefinition, count?: number) =>
    result(await checkOwns(subject, definition, count)),
  toHaveFinalizer: async (subject: Subject, finalizer: string) => result(await checkFinalizer(subject, finalizer)),
  /** There is no such object any more. */
  toBeGone: async (subject: TestObject) => result(await checkGone(subject)),
};

function result({ pass, message }: Check): MatcherResult {
  return { pass, message: () => message };
}
