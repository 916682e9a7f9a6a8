import type { ResourceDefinition } from "@kubewright/api";
import { Snapshots, expect } from "vitest";

import type { ExpectedCondition, ExpectedEvent } from "./checks.js";
import { matchers } from "./matchers.js";
import type { Trace } from "./trace.js";

/** Matchers that `import "@kubewright/testing/vitest"` adds to `expect`. All are asynchronous. */
export interface KubernetesMatchers {
  /** The object has a condition of this type and status (default `True`). */
  toHaveCondition(type: string, status?: string, expected?: ExpectedCondition): Promise<void>;
  /** A matching event exists for `cluster.object(…)`. */
  toHaveEvent(expected: ExpectedEvent): Promise<void>;
  /** `cluster.object(…)` owns `count` objects of a kind (default: at least one). */
  toOwn(definition: ResourceDefinition, count?: number): Promise<void>;
  toHaveFinalizer(finalizer: string): Promise<void>;
  /** The object does not exist. */
  toBeGone(): Promise<void>;
  /** The trace equals the content of the file; `vitest -u` writes it. */
  toMatchTrace(file: string): Promise<void>;
}

declare module "vitest" {
  // oxlint-disable-next-line typescript/no-unused-vars -- A declaration that is merged has all the parameters of the other.
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends KubernetesMatchers {}
}

expect.extend({
  ...matchers,
  toMatchTrace(trace: Trace, file: string) {
    return Snapshots.toMatchFileSnapshot.call(this, trace.text(), file);
  },
});
