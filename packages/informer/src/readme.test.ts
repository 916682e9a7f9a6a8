import { readFileSync } from "node:fs";
import path from "node:path";
import { inspect as format } from "node:util";

import { expect, test, vi } from "vitest";

test.for([
  { file: "readme-example.ts", run: () => import("../test/readme-example.js") },
  { file: "client-node-example.ts", run: () => import("../test/client-node-example.js") },
])("the README's example is test/$file, and prints what the README says", async ({ file, run }) => {
  const folder = path.resolve(import.meta.dirname, "..");
  const readme = readFileSync(path.join(folder, "README.md"), "utf8");
  expect(readme).toContain(`\`\`\`ts\n${readFileSync(path.join(folder, "test", file), "utf8")}\`\`\``);
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  await run();
  const printed = log.mock.calls.map(([line]) => (typeof line === "string" ? line : format(line))).join("\n");
  log.mockRestore();
  expect(readme).toContain(`prints\n\n\`\`\`\n${printed}\n\`\`\``);
});
