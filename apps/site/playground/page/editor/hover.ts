import type { Extension } from "@codemirror/state";
import { type EditorView, type Tooltip, hoverTooltip } from "@codemirror/view";
import { h } from "@kubewright/timeline/page";

import type { DocumentSchema } from "./document-schema.ts";
import { yamlPosition } from "./yaml-position.ts";

/** Shows the description of the field under the pointer. */
export function hover(schema: () => Promise<DocumentSchema>): Extension {
  return hoverTooltip((view, position) => tooltipAt(view, position, schema));
}

async function tooltipAt(
  view: EditorView,
  position: number,
  schema: () => Promise<DocumentSchema>,
): Promise<Tooltip | null> {
  const word = wordAround(view, position);
  if (word === undefined) return null;
  const place = yamlPosition(view.state.doc.toString(), word.to);
  if (place?.at !== "key") return null;
  const known = await schema();
  const root = known.rootOf(place);
  const field = root === undefined ? undefined : known.tree.fields(root, place.path).get(place.typed);
  if (field === undefined) return null;
  const [meant] = known.tree.at(root!, [...place.path, place.typed]);
  const words = field.description ?? meant?.description ?? "";
  const values = field.enum ?? meant?.enum ?? [];
  return {
    pos: word.from,
    end: word.to,
    above: true,
    create: () => ({
      dom: h(
        "div",
        { class: "field-help" },
        h("p", { class: "field-name" }, place.typed, " ", h("span", { class: "field-type" }, known.tree.typeOf(field))),
        words !== "" && h("p", {}, words),
        values.length > 0 && h("p", { class: "field-type" }, values.map(String).join(" · ")),
      ),
    }),
  };
}

/** Returns the range of the field name at a position. */
function wordAround({ state }: EditorView, position: number): { from: number; to: number } | undefined {
  const line = state.doc.lineAt(position);
  for (const { index, 0: text } of line.text.matchAll(/[\w./-]+(?=:(?:\s|$))/g)) {
    const from = line.from + index;
    if (from <= position && position <= from + text.length) return { from, to: from + text.length };
  }
  return undefined;
}
