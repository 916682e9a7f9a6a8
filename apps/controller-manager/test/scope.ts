import type { TestContext } from "vitest";

/** The test that owns a resource and disposes of it at its end. Concurrent tests have to pass their context. */
export type Scope = Pick<TestContext, "onTestFinished">;
