/**
 * Installs the npm projects that are no workspaces, so that `npm ci` at the root installs only what builds and most
 * tests need. A project whose lock file has not changed since is left alone.
 *
 *     node tooling/install-projects.ts            all of them
 *     node tooling/install-projects.ts apps/site  only these
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const PROJECTS: readonly string[] = ["apps/site", "tooling/browser", "tooling/release"];

const root = path.resolve(import.meta.dirname, "..");
const named = process.argv.slice(2);
const codes = await Promise.all((named.length > 0 ? named : PROJECTS).map(install));
process.exitCode = Math.max(...codes);

/** Installs a project, unless its stamp says that this was done. Returns npm's status. */
async function install(project: string): Promise<number> {
  const folder = path.join(root, project);
  const wanted = createHash("sha256")
    .update(readFileSync(path.join(folder, "package-lock.json")))
    .digest("hex");
  const stamp = path.join(folder, "node_modules/.installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return 0;
  const args = ["ci", "--silent", "--prefer-offline", "--no-audit", "--no-fund", "--workspaces=false"];
  const child = spawn("npm", args, { cwd: folder, stdio: "inherit" });
  const code = await new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("close", (status) => resolve(status ?? 1));
  });
  if (code === 0) writeFileSync(stamp, wanted);
  else console.error(`npm ci in ${project} ended with status ${code}`);
  return code;
}
