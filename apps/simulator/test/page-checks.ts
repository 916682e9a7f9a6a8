import type { Page } from "../../../tooling/browser/chromium.js";

/** Returns violations of the page's content security policy. */
export function policyViolations(page: Page): Promise<string[]> {
  return page.evaluate("window.violations");
}
