import type { ResourceDefinition } from "@kubewright/api";
import { Snapshots, expect } from "vitest";

import type { ExpectedCondition, ExpectedEvent } from "./checks.js";
import { matchers } from "./matchers.js";
import type { Trace } from "./trace.js";

/** What `import "@kubewright/testing/vitest"` adds to `expect`. Await them all. */
export interface KubernetesMatchers {
  /** The object has a condition of that type and status (default `True`). */
  toHaveCondition(type: string, status?: string, expected?: ExpectedCondition): Promise<void>;
  /** Such an event was told about `cluster.object(…)`. */
  toHaveEvent(expected: ExpectedEvent): Promise<void>;
  /** `cluster.object(…)` owns so many (default: any) objects of a kind. */
  toOwn(definition: ResourceDefinition, count?: number): Promise<void>;
  toHaveFinalizer(finalizer: string): Promise<void>;
  /** There is no such object any more. */
  toBeGone(): Promise<void>;
  /** The trace is what is in the file; `vitest -u` writes it. */
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
