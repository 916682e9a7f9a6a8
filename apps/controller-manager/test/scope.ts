import type { TestContext } from "vitest";

/** The test something is made for, and gone with. Concurrent tests have to say which they are. */
export type Scope = Pick<TestContext, "onTestFinished">;
