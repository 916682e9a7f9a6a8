import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { type Extension, Prec } from "@codemirror/state";
import { keymap } from "@codemirror/view";

import { completion } from "./completion.ts";
import type { DocumentSchema } from "./document-schema.ts";
import { hover } from "./hover.ts";

export { manifestSchema, scenarioSchema } from "./document-schema.ts";

/** Editor features that load after the first timeline: completion, descriptions of fields, and search. */
export function help(schema: () => Promise<DocumentSchema>): Extension {
  return [
    closeBrackets(),
    highlightSelectionMatches(),
    autocompletion({ override: [completion(schema)], activateOnCompletion: () => true }),
    hover(schema),
    Prec.high(keymap.of([{ key: "Tab", run: acceptCompletion }])),
    // Takes precedence over keys that only edit.
    Prec.high(keymap.of([...closeBracketsKeymap, ...searchKeymap, ...completionKeymap])),
  ];
}
