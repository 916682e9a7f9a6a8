/**
 * Compiles the TypeScript blocks of all documents and runs each block in a separate process.
 *
 * - A block must end with status 0 and print what it says.
 * - Blocks that declare what they use, and blocks that need a cluster, are not run (`outages.test.ts` runs the latter).
 *   The first blocks of packages' READMEs are run by `check-install.ts`, which installs the packages.
 * - Blocks of one document share code only through imports, as in a reader's project.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { type Block, root } from "./documents.ts";
import { type Example, exampleIn, isFirstExample, isForBrowsers, outputProblem } from "./examples.ts";

export interface TypeScriptResult {
  readonly compiled: number;
  readonly executed: number;
  readonly problems: readonly string[];
}

export function checkTypeScript(documents: readonly (readonly Block[])[]): TypeScriptResult {
  // Inside the checkout, so that the examples' imports resolve like a user's imports.
  const scratch = path.join(root, ".test-output/docs");
  rmSync(scratch, { recursive: true, force: true });
  /** Examples for browsers are compiled with the DOM library, and not run. */
  const browser = path.join(scratch, "browser");
  mkdirSync(browser, { recursive: true });

  const problems: string[] = [];
  const runnable: { readonly name: string; readonly example: Example }[] = [];
  let compiled = 0;
  for (const blocks of documents)
    for (const [index, block] of blocks.entries()) {
      const { file, language, text } = block;
      if (language !== "ts") continue;
      compiled++;
      const name = `${file.replaceAll("/", "-")}-${compiled}.ts`;
      writeFileSync(path.join(isForBrowsers(text) ? browser : scratch, name), `${text}\nexport {};\n`);
      if (isForBrowsers(text) || /^declare |http:\/\/127\.0\.0\.1:8001/m.test(text)) continue;
      if (!isFirstExample(block, blocks)) runnable.push({ name, example: exampleIn(block, blocks[index + 1]) });
    }
  for (const [folder, lib] of [
    [scratch, []],
    [browser, ["dom", "dom.iterable"]],
  ] as const) {
    const extended = path.join(root, "tsconfig.base.json");
    const compilerOptions = { noEmit: true, lib: ["es2024", "esnext.disposable", ...lib], types: ["node"] };
    writeFileSync(
      path.join(folder, "tsconfig.json"),
      JSON.stringify({ extends: extended, compilerOptions, include: ["*.ts"] }),
    );
    const tsc = path.join(root, "node_modules/.bin/tsc");
    const { status, stdout } = spawnSync(tsc, ["--project", folder, "--pretty", "false"], { encoding: "utf8" });
    // TS18003: no input files, when no example is for browsers.
    if (status !== 0 && !stdout.includes("TS18003")) problems.push(stdout);
  }
  for (const { name, example } of runnable) {
    const ran = spawnSync(process.execPath, [path.join(scratch, name)], { encoding: "utf8", timeout: 90_000 });
    const problem =
      ran.status === 0 ? outputProblem(example, ran.stdout) : `exited with ${ran.status ?? ran.signal}: ${ran.stderr}`;
    if (problem !== undefined) problems.push(`${name} ${problem}`);
  }
  if (compiled === 0) problems.push("there is no TypeScript in any document");
  return { compiled, executed: runnable.length, problems };
}
