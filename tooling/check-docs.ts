/** Checks every example of every README and document. Run `npm run build` first. */
import { blocksOf, documents } from "./docs/documents.ts";
import { runShell } from "./docs/run-shell.ts";
import { checkShell, scriptsIn } from "./docs/shell.ts";
import { checkTypeScript } from "./docs/typescript.ts";
import { checkYaml } from "./docs/yaml.ts";

const blocks = documents().map(blocksOf);
const scripts = scriptsIn(blocks.flat());
const typescript = checkTypeScript(blocks);
const yaml = await checkYaml(blocks.flat());
const shell = checkShell(scripts);
const ran = await runShell(scripts);

const problems = [typescript, yaml, shell, ran].flatMap((result) => result.problems);
for (const problem of problems) console.error(problem);
const reasons = new Set(ran.skipped.map(({ reason }) => reason));
for (const reason of reasons) {
  const lines = ran.skipped.filter((each) => each.reason === reason).map(({ line }) => line);
  console.log(`skipped: ${lines.join("; ")}: ${reason}`);
}
console.log(
  [
    `docs: ${typescript.compiled} TypeScript examples compile, ${typescript.executed} of them run`,
    `${yaml.count} of YAML`,
    `${shell.count} commands, and ${ran.executed} lines of shell run, ${ran.skipped.length} not`,
    `${problems.length} problems`,
  ].join("; "),
);
process.exitCode = problems.length === 0 ? 0 : 1;
