import { readFileSync } from "node:fs";
import path from "node:path";

import { expect, test, vi } from "vitest";

test("the README's example is the one in test/, and prints what the README says", async () => {
  const folder = path.resolve(import.meta.dirname, "..");
  const readme = readFileSync(path.join(folder, "README.md"), "utf8");
  expect(readme).toContain(`\`\`\`ts\n${readFileSync(path.join(folder, "test/readme-example.ts"), "utf8")}\`\`\``);
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  await import("../test/readme-example.js");
  const printed = log.mock.calls.map(([line]) => String(line)).join("\n");
  log.mockRestore();
  expect(readme).toContain(`prints\n\n\`\`\`\n${printed}\n\`\`\``);
});
