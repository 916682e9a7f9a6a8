import { expect, test } from "vitest";

import { projectFiles, projectNameError } from "./index.js";

test("a project's files have its name, and kubewright's packages the version they were made with", () => {
  const template = new Map([
    [
      "package.json",
      '{ "name": "my-operator", "dependencies": { "@kubewright/api": "*", "kubewright": "*", "zod": "^4.2" } }',
    ],
    ["src/operator.ts", 'createOperator({ name: "my-operator" });'],
    ["config/namespace-my-operator.yaml", "metadata: { name: my-operator }"],
    ["_gitignore", "node_modules/"],
  ]);
  expect(Object.fromEntries(projectFiles(template, { name: "backups", version: "1.2.3" }))).toEqual({
    "package.json":
      '{ "name": "backups", "dependencies": { "@kubewright/api": "^1.2.3", "kubewright": "^1.2.3", "zod": "^4.2" } }',
    "src/operator.ts": 'createOperator({ name: "backups" });',
    "config/namespace-backups.yaml": "metadata: { name: backups }",
    ".gitignore": "node_modules/",
  });
});

test("a name that no namespace may have is refused, with what a name is", () => {
  for (const name of ["", "Backups", "-x", "x-", "1x", "a_b", "a/b", "..", "x".repeat(53)]) {
    expect(projectNameError(name)).toMatch(/^".*" cannot be an operator's name: lower-case letters/);
    expect(() => projectFiles(new Map(), { name, version: "1.0.0" })).toThrow("cannot be an operator's name");
  }
  for (const name of ["x", "backups", "a-1", "x".repeat(52)]) expect(projectNameError(name)).toBeUndefined();
});
