export { pageAssets } from "../html-report/built-page.js";
export { contentSecurityPolicy, htmlPage } from "../html-report/html-page.js";

export type { PageAssets } from "../html-report/page-assets.js";
