/**
 * Type-checks the TypeScript of every README and document against the sources, and runs it, each block in a process of its
 * own, so that examples cannot rot: they have to end with status 0, and what `console.log(…); // text` prints must be that
 * text; other lines may come between. Left out are those that declare what they use, and those that need a cluster
 * (`outages.test.ts` runs them). Blocks of one document see each other only through imports, as a reader would paste them.
 * Run `npm run build` first.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
// Inside the checkout, so that the examples' imports resolve as a user's would.
const scratch = path.join(root, ".test-output/docs");
rmSync(scratch, { recursive: true, force: true });
mkdirSync(scratch, { recursive: true });

const problems: string[] = [];
const runnable: { name: string; expected: string[] }[] = [];
let blocks = 0;
for (const file of documents()) {
  const text = readFileSync(path.join(root, file), "utf8");
  for (const [index, match] of [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].entries()) {
    const name = `${file.replaceAll("/", "-")}-${index + 1}.ts`;
    writeFileSync(path.join(scratch, name), `${match[1]}\nexport {};\n`);
    const expected = [...match[1]!.matchAll(/console\.log\(.*\)+; \/\/ (.*)$/gm)].map(([, text]) => text!);
    if (!/^declare |http:\/\/127\.0\.0\.1:8001/m.test(match[1]!)) runnable.push({ name, expected });
    blocks++;
  }
}
writeFileSync(
  path.join(scratch, "tsconfig.json"),
  JSON.stringify({
    extends: "../../tsconfig.base.json",
    compilerOptions: { noEmit: true, exactOptionalPropertyTypes: true },
    include: ["*.ts"],
  }),
);
const { status, stdout } = spawnSync(
  path.join(root, "node_modules/.bin/tsc"),
  ["--project", scratch, "--pretty", "false"],
  {
    encoding: "utf8",
  },
);
if (status !== 0) problems.push(stdout);
for (const { name, expected } of runnable) {
  const ran = spawnSync(process.execPath, [path.join(scratch, name)], { encoding: "utf8", timeout: 30_000 });
  const printed = ran.stdout.trimEnd().split("\n");
  if (ran.status !== 0) problems.push(`${name} exited with ${ran.status ?? ran.signal}: ${ran.stderr}`);
  else if (!containsInOrder(printed, expected))
    problems.push(`${name} says it prints ${JSON.stringify(expected)}, but printed ${JSON.stringify(printed)}`);
}
for (const problem of problems) console.error(problem);
console.log(`docs: ${blocks} TypeScript examples compile, ${runnable.length} of them run; ${problems.length} problems`);
process.exitCode = problems.length === 0 && blocks > 0 ? 0 : 1;

function containsInOrder(lines: readonly string[], wanted: readonly string[]): boolean {
  let from = 0;
  return wanted.every((text) => (from = lines.indexOf(text, from) + 1) > 0);
}

function documents(): string[] {
  const readmes = ["packages", "apps"].flatMap((parent) =>
    readdirSync(path.join(root, parent)).map((name) => `${parent}/${name}/README.md`),
  );
  const docs = readdirSync(path.join(root, "docs")).map((name) => `docs/${name}`);
  return ["README.md", ...readmes, ...docs].filter((file) => {
    try {
      return file.endsWith(".md") && readFileSync(path.join(root, file), "utf8") !== "";
    } catch {
      return false;
    }
  });
}
