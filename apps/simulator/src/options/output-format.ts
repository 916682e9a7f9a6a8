import { UserError } from "@kubewright/analysis/errors";

/** The format of a command's output: text for people, or one JSON document for scripts. */
export type OutputFormat = "text" | "json";

/** @throws UserError for any text except `text` and `json`. */
export function parseOutputFormat(text: string): OutputFormat {
  if (text !== "text" && text !== "json")
    throw new UserError(`--output: ${JSON.stringify(text)} is not one of text, json`);
  return text;
}
