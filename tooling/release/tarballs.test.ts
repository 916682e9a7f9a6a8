import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

import { root } from "../public-packages.ts";
import { installCommand, packTarballs } from "./tarballs.ts";

test("one command installs every tarball of a folder, also of one with spaces and quotes", () => {
  expect(installCommand("/srv/kubewright/.release/packages")).toBe(
    "npm install /srv/kubewright/.release/packages/*.tgz",
  );
  expect(installCommand("/home/o'neil/my files")).toBe(String.raw`npm install '/home/o'\''neil/my files'/*.tgz`);
});

test("a package that was not packed is an error", () => {
  const folder = path.join(root, ".test-output/tarballs");
  expect(() => packTarballs(root, folder, () => "")).toThrow(/has 0 tarballs of \d+ packages$/);
});

test("README and the first pages say that the packages are not on npm yet, and how to install them", () => {
  const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
  const command = "npm ci && npm run build && npm run release:rehearse -- tarballs\n";
  for (const file of ["README.md", "docs/start/packages.md"]) expect(read(file)).toContain(command);
  for (const file of ["README.md", ...readdirSync(path.join(root, "docs/start")).map((name) => `docs/start/${name}`)])
    expect(read(file), file).toMatch(/not on npm yet/i);
});
