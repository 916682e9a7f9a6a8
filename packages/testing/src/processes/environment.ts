/** What a test is told from outside: `KUBEWRIGHT_TEST_SERVER` and `KUBEBUILDER_ASSETS`. */
export interface TestEnvironment {
  readonly KUBEWRIGHT_TEST_SERVER?: string | undefined;
  readonly KUBEBUILDER_ASSETS?: string | undefined;
}

/** This process's; nothing where there is none. */
export function processEnvironment(): TestEnvironment {
  return typeof process === "undefined" ? {} : process.env;
}
