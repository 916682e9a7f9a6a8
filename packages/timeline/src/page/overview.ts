import { button, h, icon } from "./dom.js";
import { SUN } from "./icons.js";
import { type Surroundings, partTag } from "./surroundings.js";

/** The frame of a page that is not about one run: what it is of above, and below it what there is to read, from top to bottom. */
export function overview(
  surroundings: Surroundings,
  title: string,
  facts: readonly string[],
  ...parts: readonly (Node | string | false)[]
): HTMLElement[] {
  const theme = button("", "Dark or light", () => toggleTheme(surroundings), "button icon");
  theme.append(icon(SUN));
  return [
    h(
      partTag(surroundings, "header"),
      { class: "page-header" },
      !surroundings.isEmbedded && h("h1", { class: "title" }, "kubewright"),
      h("div", { class: "facts" }, ...facts.map((fact) => h("span", {}, fact))),
      !surroundings.isEmbedded && theme,
    ),
    h(partTag(surroundings, "main"), { class: "main overview", tabindex: -1, "aria-label": title }, ...parts),
  ];
}

/** `light`, `dark`, or `auto`: as the system has it. */
export function currentTheme({ themed }: Surroundings): string {
  return themed.dataset["theme"] ?? "auto";
}

function toggleTheme(surroundings: Surroundings): void {
  const theme = currentTheme(surroundings);
  const isDark = theme === "auto" ? window.matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
  surroundings.themed.dataset["theme"] = isDark ? "light" : "dark";
}
