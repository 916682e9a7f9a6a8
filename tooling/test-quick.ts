/**
 * `npm run test:quick`: checks what a change touches, in less than a minute. `npm test` checks everything.
 *
 * - types, layers and manifests of all packages
 * - lint, language and format of the changed files
 * - the tests beside the sources of the changed packages; it names the changed tests that take longer
 *
 *     node tooling/test-quick.ts       since the common ancestor with main, with what is not committed
 *     node tooling/test-quick.ts HEAD~2  since that commit
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

import { quickChecks } from "./quick-checks.ts";
import { type Suite, bin, root, runLanes } from "./run-suites.ts";
import { OTHERS, unitSuite } from "./suites.ts";

const [since = git("merge-base", "HEAD", refOfMain())] = process.argv.slice(2);
const changed = [git("diff", "--name-only", since), git("ls-files", "--others", "--exclude-standard")]
  .flatMap((output) => output.split("\n"))
  .filter((file) => file !== "" && existsSync(path.join(root, file)));
const { tests, longTests, code, texts } = quickChecks(changed);

const ofAll = OTHERS.filter(({ name }) => ["layers", "manifests", "types"].includes(name));
const ofFiles = (name: string, command: readonly string[], files: readonly string[]): readonly Suite[] =>
  files.length === 0 ? [] : [{ name, command: [...command, ...files] }];
const { passed, failed } = await runLanes(
  tests.length === 0
    ? []
    : [
        { name: "bundle", command: [process.execPath, "tooling/bundle.ts", "apps/simulator"] },
        unitSuite(["--passWithNoTests", ...tests]),
      ],
  [
    ...ofAll,
    ...ofFiles("language", [process.execPath, "tooling/check-language.ts"], texts),
    ...ofFiles("format", [bin("prettier"), "--check", "--ignore-unknown", "--log-level", "warn"], changed),
    ...ofFiles("lint", [bin("oxlint"), "--no-error-on-unmatched-pattern"], code),
  ],
);
if (longTests.length > 0) console.log(`not run, because these take longer: npx vitest run ${longTests.join(" ")}`);
console.log(`${passed} passed, ${failed} failed, of what ${changed.length} changed files touch`);
process.exitCode = failed > 0 ? 1 : 0;

function refOfMain(): string {
  return git("rev-parse", "--verify", "--quiet", "origin/main") === "" ? "main" : "origin/main";
}

function git(...args: readonly string[]): string {
  return spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout.trim();
}
