export type Theme = "light" | "dark";

/** The documentation's own key, so that both look alike: it writes `light`, `dark` or `auto`. */
const KEY = "vitepress-theme-appearance";

/** As it was chosen here or there, or else as the system has it. */
export function storedTheme(): Theme {
  const stored = read();
  if (stored === "light" || stored === "dark") return stored;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
}

export function storeTheme(theme: Theme): void {
  applyTheme(theme);
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Nothing is stored where the browser does not let us.
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
