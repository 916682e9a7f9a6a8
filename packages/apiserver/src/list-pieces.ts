import type { ListBody } from "./reply.js";
import type { JsonText, StoredObject } from "./storage/stored-object.js";
import { formatYaml, formatYamlElement } from "./yaml.js";

/** Output format of a value. */
export type TextForm = "json" | "pretty" | "yaml";

/** Formats one value. */
export function formatValue(value: unknown, form: TextForm): string {
  switch (form) {
    case "json":
      return JSON.stringify(value);
    case "pretty":
      return `${JSON.stringify(value, null, 2)}\n`;
    case "yaml":
      return formatYaml(value);
    default:
      return form satisfies never;
  }
}

/**
 * Formats a list, one element at a time, so that memory use does not depend on its length.
 *
 * @param onElement - Called after each element.
 */
export function* listPieces(list: ListBody, form: TextForm, onElement: () => void): Generator<JsonText, void> {
  const { head, member, items } = list;
  if (items.length === 0) {
    yield formatValue({ ...head, [member]: [] }, form);
    return;
  }
  const { open, between, close } = FRAMES[form](head, member);
  yield open;
  let isFirst = true;
  for (const stored of items) {
    if (!isFirst && between !== "") yield between;
    isFirst = false;
    yield element(list, stored, form);
    onElement();
  }
  yield close;
}

function element({ toValue, toJson }: ListBody, stored: StoredObject, form: TextForm): JsonText {
  switch (form) {
    case "json":
      return toJson?.(stored) ?? JSON.stringify(toValue(stored));
    case "pretty":
      return JSON.stringify(toValue(stored), null, 2).replaceAll("\n", "\n    ");
    case "yaml":
      return formatYamlElement(toValue(stored)).replaceAll(/^(?=.)/gm, "  ");
    default:
      return form satisfies never;
  }
}

interface Frame {
  readonly open: string;
  readonly between: string;
  readonly close: string;
}

/** The text around the elements and between two of them. */
const FRAMES: Readonly<Record<TextForm, (head: object, member: string) => Frame>> = {
  json: (head, member) => ({
    open: `${JSON.stringify(head).slice(0, -1)},"${member}":[`,
    between: ",",
    close: "]}",
  }),
  pretty: (head, member) => ({
    open: `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${member}": [\n    `,
    between: ",\n    ",
    close: "\n  ]\n}\n",
  }),
  yaml: (head, member) => {
    // Members are sorted by name.
    const members = Object.entries(head);
    const part = (entries: typeof members): string =>
      entries.length === 0 ? "" : formatYaml(Object.fromEntries(entries));
    return {
      open: `${part(members.filter(([name]) => name < member))}${member}:\n`,
      between: "",
      close: part(members.filter(([name]) => name > member)),
    };
  },
};
