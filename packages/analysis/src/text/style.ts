/** Colours of a terminal, or none. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

export function styleFor(hasColours: boolean): Style {
  const wrap = (open: number, close: number) => (text: string) =>
    hasColours && text !== "" ? `\u001B[${open}m${text}\u001B[${close}m` : text;
  return {
    bold: wrap(1, 22),
    dim: wrap(2, 22),
    red: wrap(31, 39),
    green: wrap(32, 39),
    yellow: wrap(33, 39),
    cyan: wrap(36, 39),
  };
}

/** Escapes control characters of untrusted text, so that an object's name or message cannot control the terminal. */
export function printable(text: string): string {
  return text.replace(
    /[\u0000-\u001F\u007F-\u009F]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}
