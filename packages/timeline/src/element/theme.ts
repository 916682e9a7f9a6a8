export type Theme = "auto" | "light" | "dark";

export function isTheme(text: string | null): text is Theme {
  return text === "auto" || text === "light" || text === "dark";
}
