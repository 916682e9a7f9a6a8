export type Theme = "light" | "dark";

/** The key of the documentation site, which stores `light`, `dark` or `auto`. Both sites share the theme. */
const KEY = "vitepress-theme-appearance";

/** Returns the stored theme, or the system's. */
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
    // The browser denies access to the storage.
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
