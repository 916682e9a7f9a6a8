import { defineConfig } from "vitepress";

import pages from "./pages.json";

const REPOSITORY = "https://github.com/kubewright/kubewright";

/** Fails the build on the first warning. */
const stopAtWarning = (text: string): never => {
  throw new Error(`a warning of the build: ${text}`);
};

export default defineConfig({
  title: "kubewright",
  description: "Kubernetes' controller machinery for TypeScript, and a time machine for Kubernetes Jobs and CronJobs",
  lang: "en",
  cleanUrls: false,
  // The playground is built separately.
  ignoreDeadLinks: [/^\/play\//],
  srcExclude: ["**/node_modules/**", ".typedoc/**"],
  markdown: {
    // Colors with sufficient contrast on the theme's backgrounds.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    // Headings have the same ids as on GitHub, so that links to them work on both sites.
    anchor: {
      slugify: (text) =>
        text
          .trim()
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, "")
          .replaceAll(" ", "-"),
    },
    // Escapes double braces, which Vue would interpolate.
    config: (md) => {
      for (const rule of ["text", "code_inline"] as const) {
        const render = md.renderer.rules[rule]!;
        md.renderer.rules[rule] = (...args) => render(...args).replaceAll("{{", "&#123;&#123;");
      }
    },
  },
  transformHead: ({ siteData }) => [["link", { rel: "icon", href: `${siteData.base}icon.svg` }]],
  /** Sets the edit link of each page to its source document. */
  transformPageData({ filePath, frontmatter }) {
    const source = (pages.sources as Readonly<Record<string, string | undefined>>)[filePath];
    return source === undefined ? { frontmatter: { ...frontmatter, editLink: false } } : { filePath: source };
  },
  vite: {
    // Ignores PostCSS configurations of parent folders.
    css: { postcss: {} },
    // The timeline and the reference of large packages exceed the default limit. Each is loaded on demand.
    build: { chunkSizeWarningLimit: 2000 },
    customLogger: {
      hasWarned: false,
      info: () => {},
      warn: stopAtWarning,
      warnOnce: stopAtWarning,
      error: (text) => console.error(text),
      clearScreen: () => {},
      hasErrorLogged: () => false,
    },
  },
  vue: { template: { compilerOptions: { isCustomElement: (tag) => tag === "kubewright-timeline" } } },
  themeConfig: {
    nav: [
      { text: "Start", link: "/start/time-machine" },
      { text: "Concepts", link: "/concepts/queue" },
      { text: "How to", link: "/how-to/cronjob-did-not-run" },
      { text: "Reference", link: "/reference/commands/run" },
      { text: "API", link: "/api/" },
      { text: "Playground", link: "/play/", target: "_self" },
    ],
    sidebar: pages.sidebar,
    outline: [2, 3],
    search: { provider: "local" },
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/:path`, text: "Edit this page" },
    docFooter: { prev: "Before", next: "Next" },
    externalLinkIcon: true,
  },
});
