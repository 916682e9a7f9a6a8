/** What is wrong with a page whatever it shows. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What people with a screen reader, little sight or no mouse could not use, by the rules of WCAG 2.2 AA and more. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(
    "axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`)))",
  );
}

/** What the page's own policy of security has refused. */
export function policyViolations(page: Page): Promise<string[]> {
  return page.evaluate("window.violations");
}
