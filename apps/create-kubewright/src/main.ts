import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { projectFiles, projectNameError } from "./project-files.js";

const USAGE = "usage: npm create kubewright FOLDER, whose name becomes the operator's";
const own = fileURLToPath(new URL("..", import.meta.url));

process.exitCode = create(process.argv.slice(2));

/** @returns The exit status. */
function create([target, ...rest]: readonly string[]): number {
  if (target === "--help" || target === "-h") {
    process.stdout.write(`${USAGE}\n\nWrites a Kubernetes operator with its test, manifests, Dockerfile and CI.\n`);
    return 0;
  }
  if (target === undefined || target.startsWith("-") || rest.length > 0) return exitWithUsage(USAGE);
  const folder = path.resolve(target);
  const name = path.basename(folder);
  const error = projectNameError(name);
  if (error !== undefined) return exitWithUsage(error);
  const template = path.join(own, "template");
  const { version } = JSON.parse(readFileSync(path.join(own, "package.json"), "utf8")) as { version: string };
  try {
    if (existsSync(folder) && readdirSync(folder).length > 0) return exitWithUsage(`${target} exists and is not empty`);
    const files = new Map(filesIn(template).map((file) => [file, readFileSync(path.join(template, file), "utf8")]));
    for (const [file, text] of projectFiles(files, { name, version })) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), text);
    }
  } catch (failure) {
    return exitWithUsage((failure as Error).message);
  }
  process.stdout.write(`${target} is an operator. Next:\n\n  cd ${target}\n  npm install\n  npm test\n`);
  return 0;
}

/**
 * Lists the files of a folder with `/` separators on all platforms. Excludes `node_modules`, which tests of the
 * template leave behind.
 */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"))
    .filter((file) => !file.startsWith("node_modules/"));
}

function exitWithUsage(message: string): number {
  process.stderr.write(`create-kubewright: ${message}\n`);
  return 2;
}
