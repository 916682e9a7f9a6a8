/** Environment variables for tests: `KUBEWRIGHT_TEST_SERVER` and `KUBEBUILDER_ASSETS`. */
export interface TestEnvironment {
  readonly KUBEWRIGHT_TEST_SERVER?: string | undefined;
  readonly KUBEBUILDER_ASSETS?: string | undefined;
}

/** Returns the environment of this process; empty outside of Node.js. */
export function processEnvironment(): TestEnvironment {
  return typeof process === "undefined" ? {} : process.env;
}
