/**
 * Checks the words of comments, messages and Markdown with textlint: those of `language/banned.yml` are errors, those of
 * `language/review.yml` are listed with `--review` and never fail. `language/exceptions.txt` names the Markdown files that are still to be
 * rewritten. A listed file without a listed word must leave the list, so that the list only shrinks.
 *
 *     node tooling/check-language.ts            everything that git tracks
 *     node tooling/check-language.ts FILE…      only these files
 *     node tooling/check-language.ts --review   also what may need another word
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

import { LanguageCheck } from "./language/language-check.ts";

const root = path.resolve(import.meta.dirname, "..");
const args = process.argv.slice(2);
const withReview = args.includes("--review");
const named = args.filter((arg) => !arg.startsWith("--"));

const exceptionsFile = "tooling/language/exceptions.txt";
const exceptions = new Set(
  readFileSync(path.join(root, exceptionsFile), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#")),
);
const tracked = execFileSync("git", ["ls-files", "*.ts", "*.js", "*.mjs", "*.md"], { cwd: root, encoding: "utf8" });
const files = (named.length > 0 ? named : tracked.trim().split("\n")).filter(isOurs);

const check = new LanguageCheck({ withReview });
let errors = 0;
let reviews = 0;
const unneeded: string[] = [];
for (const file of files) {
  const text = readFileSync(path.join(root, file), "utf8");
  if (exceptions.has(file)) {
    if (!check.mentionsListedWord(text)) unneeded.push(file);
    continue;
  }
  for (const { line, column, isError, message } of await check.check(file, text)) {
    if (isError) errors++;
    else reviews++;
    console.log(`${file}:${line}:${column}: ${isError ? "error" : "review"}: ${message}`);
  }
}
for (const file of unneeded) {
  errors++;
  console.log(`${exceptionsFile}: ${file} has no error any more; remove the line`);
}
const remarks = withReview ? `, ${reviews} to review` : "";
console.log(`${files.length} files, ${errors} errors${remarks}, ${exceptions.size} documents excepted`);
process.exitCode = errors > 0 ? 1 : 0;

/** Recordings and drivers of the reference, generated sources and Kubernetes' own descriptions are not our wording. */
function isOurs(file: string): boolean {
  return !/^(conformance\/(api|cron|golden)\/|conformance\/[^/]*\.mjs$|bench\/(make-pods|jobs-throughput)\.mjs$|packages\/api\/models\.d\.ts$|tooling\/rename\/|tooling\/language\/|packages\/apiserver\/src\/openapi\/descriptions\.ts$|packages\/timeline\/src\/element\/style-text\.ts$|.*\/etc\/|.*CHANGELOG\.md$)/.test(
    file,
  );
}
