import { type Suite, bin, closingCount, vitestCount, vitestFailure } from "./run-suites.ts";

/** What the other suites need. */
export const PREPARATION: readonly Suite[] = [
  { name: "build", command: ["npm", "run", "--silent", "build:quiet"] },
  { name: "projects", command: [process.execPath, "tooling/install-projects.ts"] },
];

/**
 * Returns the unit tests. They take longer than all other suites, so they begin at once. Some of them only wait for
 * processes.
 */
export function unitSuite(options: readonly string[]): Suite {
  const command = [bin("vitest"), "run", "--no-color", ...options];
  return { name: "unit", command, count: vitestCount, failure: vitestFailure };
}

/**
 * Suites that run beside the unit tests, one after another. The conformance kits mostly wait. Some of their cases act a
 * third of a second after their previous action, and the controllers must be done by then.
 */
export const OTHERS: readonly Suite[] = [
  { name: "layers", command: [process.execPath, "tooling/check-layers.ts"] },
  { name: "manifests", command: [process.execPath, "tooling/check-manifests.ts"] },
  { name: "language", command: [process.execPath, "tooling/check-language.ts"] },
  { name: "types", command: [bin("tsc"), "--project", "tsconfig.json"] },
  { name: "site-types", command: [bin("tsc"), "--project", "apps/site"] },
  { name: "lint", command: [bin("oxlint")] },
  {
    name: "conformance",
    command: [process.execPath, "conformance/check.ts"],
    count: closingCount,
    isUrgent: true,
    isPrinted: true,
  },
  { name: "replay", command: [process.execPath, "tooling/check-replay.ts"] },
  { name: "install", command: [process.execPath, "tooling/check-install.ts"] },
  { name: "create", command: [process.execPath, "tooling/check-create.ts"] },
  { name: "packages", command: [process.execPath, "tooling/release/check-packages.ts"] },
  { name: "docs", command: [process.execPath, "tooling/check-docs.ts"] },
  {
    name: "format",
    command: [bin("prettier"), "--check", "--log-level", "warn", "--cache", "--cache-strategy", "content", "."],
  },
];
