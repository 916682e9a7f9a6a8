/**
 * Compiles the TypeScript blocks of all documents and runs each block in a separate process.
 *
 * - A block must end with status 0.
 * - The output of `console.log(…); // text` must be that text; other lines may come between. A block without a language
 *   after the word “prints” is the complete expected output.
 * - Blocks that declare what they use, and blocks that need a cluster, are not run (`outages.test.ts` runs the latter).
 * - Blocks of one document share code only through imports, as in a reader's project.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { type Block, root } from "./documents.ts";

interface Example {
  readonly name: string;
  /** Expected lines, in order. */
  readonly expected: readonly string[];
  /** Whether the expected lines are the complete output. */
  readonly isAll: boolean;
}

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
  const runnable: Example[] = [];
  let compiled = 0;
  for (const blocks of documents)
    for (const [index, { file, language, text }] of blocks.entries()) {
      if (language !== "ts") continue;
      compiled++;
      const name = `${file.replaceAll("/", "-")}-${compiled}.ts`;
      const isForBrowsers = /^(?!\/\/).*\bdocument\./m.test(text);
      writeFileSync(path.join(isForBrowsers ? browser : scratch, name), `${text}\nexport {};\n`);
      if (isForBrowsers || /^declare |http:\/\/127\.0\.0\.1:8001/m.test(text)) continue;
      const remarks = [...text.matchAll(/console\.log\(.*\)+; \/\/ (.*)$/gm)].map(([, remark]) => remark!);
      const output = blocks[index + 1];
      const isAll = output?.language === "" && /^\s*(?:\S+ )?prints:?\s*$/.test(output.before);
      runnable.push({ name, expected: isAll ? output.text.trimEnd().split("\n") : remarks, isAll });
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
  for (const { name, expected, isAll } of runnable) {
    const ran = spawnSync(process.execPath, [path.join(scratch, name)], { encoding: "utf8", timeout: 90_000 });
    const printed = ran.stdout.trimEnd().split("\n");
    const isAsExpected = isAll ? printed.join("\n") === expected.join("\n") : containsInOrder(printed, expected);
    if (ran.status !== 0) problems.push(`${name} exited with ${ran.status ?? ran.signal}: ${ran.stderr}`);
    else if (!isAsExpected)
      problems.push(`${name} says it prints ${JSON.stringify(expected)}, but printed ${JSON.stringify(printed)}`);
  }
  if (compiled === 0) problems.push("there is no TypeScript in any document");
  return { compiled, executed: runnable.length, problems };
}

function containsInOrder(lines: readonly string[], wanted: readonly string[]): boolean {
  let from = 0;
  return wanted.every((text) => (from = lines.indexOf(text, from) + 1) > 0);
}
