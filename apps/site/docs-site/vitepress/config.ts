import { defineConfig } from "vitepress";

import pages from "./pages.json";

const REPOSITORY = "https://github.com/kubewright/kubewright";

/** A site is built without warnings, or not at all. */
const stopAtWarning = (text: string): never => {
  throw new Error(`a warning of the build: ${text}`);
};

export default defineConfig({
  title: "kubewright",
  description: "Kubernetes' controller machinery for TypeScript, and a time machine for Kubernetes Jobs and CronJobs",
  lang: "en",
  cleanUrls: false,
  // The playground is built beside the pages.
  ignoreDeadLinks: [/^\/play\//],
  srcExclude: ["**/node_modules/**", ".typedoc/**"],
  markdown: {
    // Colours that everybody can read on the theme's grounds.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    // Headings have the names that GitHub gives them, so that a link to one works in both places.
    anchor: {
      slugify: (text) =>
        text
          .trim()
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, "")
          .replaceAll(" ", "-"),
    },
    // Two braces in a document are two braces, not a place for a value.
    config: (md) => {
      for (const rule of ["text", "code_inline"] as const) {
        const render = md.renderer.rules[rule]!;
        md.renderer.rules[rule] = (...args) => render(...args).replaceAll("{{", "&#123;&#123;");
      }
    },
  },
  transformHead: ({ siteData }) => [["link", { rel: "icon", href: `${siteData.base}icon.svg` }]],
  /** Pages are edited where they are written. */
  transformPageData({ filePath, frontmatter }) {
    const source = (pages.sources as Readonly<Record<string, string | undefined>>)[filePath];
    return source === undefined ? { frontmatter: { ...frontmatter, editLink: false } } : { filePath: source };
  },
  vite: {
    // What folders above have to say of style sheets is about something else.
    css: { postcss: {} },
    // The timeline, and the reference of large packages: each is loaded where it is looked at.
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
