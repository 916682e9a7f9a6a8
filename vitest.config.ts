import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

/** No test is about how fast a machine is: these end what hangs, and are far from what a busy machine needs. */
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
    // Left to itself it leaves a core to others, and most of the tests of processes wait.
    maxWorkers: "100%",
    isolate: false,
    testTimeout: HANGS_MS,
    hookTimeout: HANGS_MS,
    expect: { poll: { timeout: HANGS_MS / 2 } },
  },
});
