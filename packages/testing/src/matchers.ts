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

/** Result of a matcher for `expect.extend` of vitest and jest. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/**
 * Matchers for `expect.extend`. They are asynchronous: await them. `@kubewright/testing/vitest` registers them, with
 * their types.
 */
export const matchers = {
  /** The object has a condition of this type and status (default `True`). */
  toHaveCondition: async (subject: Subject, type: string, status?: string, expected?: ExpectedCondition) =>
    result(await checkCondition(subject, type, status, expected)),
  /** A matching event exists for the object. */
  toHaveEvent: async (subject: TestObject, expected: ExpectedEvent) => result(await checkEvent(subject, expected)),
  /** The object owns `count` objects of a kind (default: at least one). */
  toOwn: async (subject: TestObject, definition: ResourceDefinition, count?: number) =>
    result(await checkOwns(subject, definition, count)),
  toHaveFinalizer: async (subject: Subject, finalizer: string) => result(await checkFinalizer(subject, finalizer)),
  /** The object does not exist. */
  toBeGone: async (subject: TestObject) => result(await checkGone(subject)),
};

function result({ pass, message }: Check): MatcherResult {
  return { pass, message: () => message };
}
