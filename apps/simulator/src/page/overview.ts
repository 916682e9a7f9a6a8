import { button, h, icon } from "./dom.js";
import { SUN } from "./icons.js";

/** The frame of a page that is not about one run: what it is of above, and below it what there is to read, from top to bottom. */
export function overview(
  title: string,
  facts: readonly string[],
  ...parts: readonly (Node | string | false)[]
): HTMLElement[] {
  const theme = button("", "Dark or light", toggleTheme, "button icon");
  theme.append(icon(SUN));
  return [
    h(
      "header",
      { class: "page-header" },
      h("h1", {}, "kubewright"),
      h("div", { class: "facts" }, ...facts.map((fact) => h("span", {}, fact))),
      theme,
    ),
    h("main", { class: "overview", tabindex: -1, "aria-label": title }, ...parts),
  ];
}

/** `light`, `dark`, or `auto`: as the system has it. */
export function currentTheme(): string {
  return document.documentElement.dataset["theme"] ?? "auto";
}

function toggleTheme(): void {
  const theme = currentTheme();
  const isDark = theme === "auto" ? window.matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
  document.documentElement.dataset["theme"] = isDark ? "light" : "dark";
}
