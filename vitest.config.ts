import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

import { LongestFirst } from "./tooling/longest-first.ts";

/**
 * Timeout of tests and hooks. It only stops hanging tests: it is far above the duration of any test on a busy machine.
 */
const HANGS_MS = 180_000;

export default defineConfig({
  ssr: { resolve: { conditions: ["@kubewright/source", ...defaultServerConditions] } },
  test: {
    include: [
      "packages/*/src/**/*.test.ts",
      "packages/*/test/**/*.test.ts",
      "packages/*/mutants/*.test.ts",
      "apps/*/src/**/*.test.ts",
      "apps/*/test/**/*.test.ts",
      "apps/*/template/test/*.test.ts",
      "examples/**/*.test.ts",
      "tooling/**/*.test.ts",
    ],
    setupFiles: "tooling/seeded-properties.ts",
    pool: "threads",
    // By default vitest leaves a core idle, although most tests with processes only wait.
    maxWorkers: "100%",
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: HANGS_MS,
    hookTimeout: HANGS_MS,
    expect: { poll: { timeout: HANGS_MS / 2 } },
  },
});
