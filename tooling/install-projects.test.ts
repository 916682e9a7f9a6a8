import { readFileSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

import { root } from "./public-packages.ts";

const PROJECTS = ["apps/site", "tooling/browser", "tooling/release"];
/** Dependencies that the root has as well. */
const SHARED = ["esbuild", "typescript"];

const read = <Read>(file: string): Read => JSON.parse(readFileSync(path.join(root, file), "utf8")) as Read;

test("npm ci at the root installs nothing that only the site, the release checks or browser tests need", () => {
  const { packages } = read<{ readonly packages: object }>("package-lock.json");
  for (const project of PROJECTS) {
    expect(packages).not.toHaveProperty([project]);
    const { dependencies } = read<{ readonly dependencies: object }>(`${project}/package.json`);
    const names = Object.keys(dependencies).filter((name) => !SHARED.includes(name));
    expect(names.filter((name) => `node_modules/${name}` in packages)).toEqual([]);
  }
});
