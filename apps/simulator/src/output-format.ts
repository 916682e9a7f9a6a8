import { UserError } from "./user-error.js";

/** How a command answers: for people, or one JSON document for scripts. */
export type OutputFormat = "text" | "json";

/** @throws UserError for anything but `text` and `json`. */
export function parseOutputFormat(text: string): OutputFormat {
  if (text !== "text" && text !== "json")
    throw new UserError(`--output: ${JSON.stringify(text)} is not one of text, json`);
  return text;
}
