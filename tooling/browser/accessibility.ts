import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import type { Page } from "playwright-core";

/** Axe gives every element a selector also in results that no test reads, which takes most of its time on a large page. */
const VIOLATIONS_ONLY = { resultTypes: ["violations"] };

/** Returns the script of axe-core. */
export function axeScript(): string {
  return readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
}

/**
 * Returns violations of accessibility rules in a page.
 *
 * @param rules - Default: WCAG 2.2 AA and the best practices of axe-core.
 */
export async function accessibilityViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  const options = { ...VIOLATIONS_ONLY, ...(rules === undefined ? {} : { runOnly: rules }) };
  await page.evaluate(axeScript());
  return page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => \`\${id}: \${target.join(' ')}: \${failureSummary}\`)))`,
  );
}
