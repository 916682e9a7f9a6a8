/**
 * Type-checks the TypeScript of every README and document against the sources, and runs it, each block in a process of its
 * own, so that examples cannot rot: they have to end with status 0, and what `console.log(…); // text` prints must be that
 * text; other lines may come between. Left out are those that declare what they use, and those that need a cluster
 * (`outages.test.ts` runs them). Blocks of one document see each other only through imports, as a reader would paste them.
 * YAML has to be what the command takes that it is for; what is played on the site is played there. Shell has to be what bash
 * reads, with commands and flags that there are. Run `npm run build` first.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { check } from "kubewright/browser";
import { parseAllDocuments } from "yaml";

const root = path.resolve(import.meta.dirname, "..");
// Inside the checkout, so that the examples' imports resolve as a user's would.
const scratch = path.join(root, ".test-output/docs");
rmSync(scratch, { recursive: true, force: true });
/** Those for browsers know a document, and are not run. */
const browser = path.join(scratch, "browser");
mkdirSync(browser, { recursive: true });

const problems: string[] = [];
const helps = new Map<string, ReadonlySet<string> | undefined>();
const runnable: { name: string; expected: string[] }[] = [];
let blocks = 0;
for (const file of documents()) {
  const text = readFileSync(path.join(root, file), "utf8");
  for (const [index, match] of [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].entries()) {
    const name = `${file.replaceAll("/", "-")}-${index + 1}.ts`;
    const isForBrowsers = /^(?!\/\/).*\bdocument\./m.test(match[1]!);
    writeFileSync(path.join(isForBrowsers ? browser : scratch, name), `${match[1]}\nexport {};\n`);
    const expected = [...match[1]!.matchAll(/console\.log\(.*\)+; \/\/ (.*)$/gm)].map(([, text]) => text!);
    if (!isForBrowsers && !/^declare |http:\/\/127\.0\.0\.1:8001/m.test(match[1]!)) runnable.push({ name, expected });
    blocks++;
  }
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
  // Without a document that is for browsers there is nothing to compile.
  if (status !== 0 && !stdout.includes("TS18003")) problems.push(stdout);
}
for (const { name, expected } of runnable) {
  const ran = spawnSync(process.execPath, [path.join(scratch, name)], { encoding: "utf8", timeout: 30_000 });
  const printed = ran.stdout.trimEnd().split("\n");
  if (ran.status !== 0) problems.push(`${name} exited with ${ran.status ?? ran.signal}: ${ran.stderr}`);
  else if (!containsInOrder(printed, expected))
    problems.push(`${name} says it prints ${JSON.stringify(expected)}, but printed ${JSON.stringify(printed)}`);
}
const yamls = await checkYaml();
const commands = checkShell();
for (const problem of problems) console.error(problem);
console.log(
  `docs: ${blocks} TypeScript examples compile, ${runnable.length} of them run; ${yamls} of YAML, ${commands} commands; ${problems.length} problems`,
);
process.exitCode = problems.length === 0 && blocks > 0 ? 0 : 1;

function containsInOrder(lines: readonly string[], wanted: readonly string[]): boolean {
  let from = 0;
  return wanted.every((text) => (from = lines.indexOf(text, from) + 1) > 0);
}

/** The blocks of all documents whose language is one of these; `""` is none. */
function* blocksIn(...languages: readonly string[]): Generator<{ name: string; text: string }> {
  for (const file of documents())
    for (const [, language, text] of readFileSync(path.join(root, file), "utf8").matchAll(
      /^```(\w*)(?! play).*\n([\s\S]*?)^```$/gm,
    ))
      if (languages.includes(language!)) yield { name: `${file}: ${text!.split("\n", 1)[0]}`, text: text! };
}

async function checkYaml(): Promise<number> {
  let count = 0;
  for (const { name, text } of blocksIn("yaml")) {
    count++;
    const documentsOf = parseAllDocuments(text);
    const wrong = documentsOf.flatMap(({ errors }) => errors.map(({ message }) => message));
    const kinds = documentsOf.map((each) => `${String(each.get("apiVersion"))} ${String(each.get("kind"))}`);
    const isScenario = kinds.includes("sim.kubewright.dev/v1 Scenario");
    // A scenario's files are its reader's.
    if (!isScenario && kinds.some((kind) => kind.startsWith("batch/v1 ")))
      for (const { severity, message } of await check({ manifests: text }))
        // Some show a part.
        if (severity === "error" && !message.startsWith("Required value")) wrong.push(message);
    problems.push(...wrong.map((message) => `${name}: ${message}`));
  }
  return count;
}

/** How many commands of ours there are in the shell of all documents. */
function checkShell(): number {
  let count = 0;
  for (const { name, text } of blocksIn("sh", "")) {
    const isShell = /^(?:\$ )?(?:npx|npm|node|kubectl|kubewright|helm|\w+=\S+)\s/.test(text);
    if (!isShell) continue;
    const lines = text.startsWith("$ ") ? text.match(/^\$ .*$/gm)!.map((line) => line.slice(2)) : [text];
    const { status, stderr } = spawnSync("bash", ["-n", "-c", lines.join("\n")], { encoding: "utf8" });
    if (status !== 0) problems.push(`${name}: ${stderr}`);
    const joined = lines.join("\n").replaceAll("\\\n", " ");
    for (const [, command, rest] of joined.matchAll(/(?:^|npx )kubewright (\w+)((?:[^\n|#]|\\\|)*)/gm)) {
      count++;
      const flags = flagsOf(command!);
      if (flags === undefined) problems.push(`${name}: there is no command kubewright ${command}`);
      for (const [flag] of rest!.replaceAll(/'[^']*'/g, "").matchAll(/(?<=\s)--?[a-zA-Z][\w-]*/g))
        if (flags?.has(flag) === false) problems.push(`${name}: kubewright ${command} has no ${flag}`);
    }
  }
  return count;
}

/** What `--help` of a command lists, or `undefined` where there is none of that name. */
function flagsOf(command: string): ReadonlySet<string> | undefined {
  if (!helps.has(command)) {
    const bin = path.join(root, "apps/simulator/bin/kubewright.js");
    const { status, stdout } = spawnSync(process.execPath, [bin, command, "--help"], { encoding: "utf8" });
    const isThere = status === 0 && stdout.startsWith(`Usage: kubewright ${command} `);
    helps.set(command, isThere ? new Set(stdout.match(/(?<=[\s,])--?[a-zA-Z][\w-]*/g)) : undefined);
  }
  return helps.get(command);
}

function documents(): string[] {
  const readmes = ["packages", "apps"].flatMap((parent) =>
    readdirSync(path.join(root, parent)).map((name) => `${parent}/${name}/README.md`),
  );
  const docs = readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" }).map(
    (name) => `docs/${name}`,
  );
  return ["README.md", ...readmes, ...docs].filter((file) => {
    try {
      return file.endsWith(".md") && readFileSync(path.join(root, file), "utf8") !== "";
    } catch {
      return false;
    }
  });
}
