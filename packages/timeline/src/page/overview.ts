import { button, h, icon } from "./dom.js";
import { SUN } from "./icons.js";
import { type PageEnvironment, partTag } from "./page-environment.js";

/** Creates the frame of a page that is not about a single run: a header with title and facts, and a scrolling body. */
export function overview(
  environment: PageEnvironment,
  title: string,
  facts: readonly string[],
  ...parts: readonly (Node | string | false)[]
): HTMLElement[] {
  const theme = button("", "Dark or light", () => toggleTheme(environment), "button icon");
  theme.append(icon(SUN));
  return [
    h(
      partTag(environment, "header"),
      { class: "page-header" },
      !environment.isEmbedded && h("h1", { class: "title" }, "kubewright"),
      h("div", { class: "facts" }, ...facts.map((fact) => h("span", {}, fact))),
      !environment.isEmbedded && theme,
    ),
    h(partTag(environment, "main"), { class: "main overview", tabindex: -1, "aria-label": title }, ...parts),
  ];
}

/** Returns `light`, `dark`, or `auto` for the system setting. */
export function currentTheme({ themed }: PageEnvironment): string {
  return themed.dataset["theme"] ?? "auto";
}

function toggleTheme(environment: PageEnvironment): void {
  const theme = currentTheme(environment);
  const isDark = theme === "auto" ? window.matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
  environment.themed.dataset["theme"] = isDark ? "light" : "dark";
}
