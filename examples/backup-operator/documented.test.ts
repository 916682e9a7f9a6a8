import { readFileSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

test("docs/operators.md shows the operator as it is, and its length", () => {
  const source = readFileSync(path.join(import.meta.dirname, "backup-operator.ts"), "utf8");
  const document = readFileSync(path.join(import.meta.dirname, "../../docs/operators.md"), "utf8");
  expect(document).toContain(`\`\`\`typescript\n${source}\`\`\``);
  expect(document).toMatch(new RegExp(`\\| lines +\\| ${source.trimEnd().split("\n").length} `));
});
