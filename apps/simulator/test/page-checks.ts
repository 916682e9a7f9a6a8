/** Checks for any page. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Returns violations of accessibility rules: WCAG 2.2 AA and the best practices of axe-core. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(
    "axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`)))",
  );
}

/** Returns violations of the page's content security policy. */
export function policyViolations(page: Page): Promise<string[]> {
  return page.evaluate("window.violations");
}
