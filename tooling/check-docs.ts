/**
 * Type-checks the TypeScript of every README and document against the sources, so that examples cannot rot. Blocks of one
 * document see each other only through imports, as a reader would paste them.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
// Inside the checkout, so that the examples' imports resolve as a user's would.
const scratch = path.join(root, ".test-output/docs");
rmSync(scratch, { recursive: true, force: true });
mkdirSync(scratch, { recursive: true });

let blocks = 0;
for (const file of documents()) {
  const text = readFileSync(path.join(root, file), "utf8");
  for (const [index, match] of [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].entries()) {
    writeFileSync(path.join(scratch, `${file.replaceAll("/", "-")}-${index + 1}.ts`), `${match[1]}\nexport {};\n`);
    blocks++;
  }
}
writeFileSync(
  path.join(scratch, "tsconfig.json"),
  JSON.stringify({ extends: "../../tsconfig.base.json", compilerOptions: { noEmit: true, exactOptionalPropertyTypes: true }, include: ["*.ts"] }),
);
const { status, stdout } = spawnSync(path.join(root, "node_modules/.bin/tsc"), ["--project", scratch], { encoding: "utf8" });
process.stdout.write(stdout);
console.log(`docs: ${blocks} TypeScript examples, ${status === 0 ? "all compile" : "some do not compile"}`);
process.exitCode = status === 0 && blocks > 0 ? 0 : 1;

function documents(): string[] {
  const readmes = ["packages", "apps"].flatMap((parent) => readdirSync(path.join(root, parent)).map((name) => `${parent}/${name}/README.md`));
  const docs = readdirSync(path.join(root, "docs")).map((name) => `docs/${name}`);
  return ["README.md", ...readmes, ...docs].filter((file) => {
    try {
      return file.endsWith(".md") && readFileSync(path.join(root, file), "utf8") !== "";
    } catch {
      return false;
    }
  });
}
