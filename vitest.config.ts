import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

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
    pool: "threads",
    isolate: false,
    testTimeout: 60_000,
  },
});
