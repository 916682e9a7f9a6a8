import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The page's colors, which follow its theme. */
const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-key)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.content, tags.attributeValue], color: "var(--ink)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.brace, tags.squareBracket], color: "var(--code-mark)" },
  { tag: [tags.meta, tags.keyword, tags.typeName, tags.labelName], color: "var(--code-meta)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--accent)", padding: "10px 0" },
  ".cm-line": { padding: "0 14px 0 6px" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", border: "none", paddingLeft: "4px" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "28px", padding: "0 6px 0 4px" },
  ".cm-gutter-lint": { width: "16px" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0 0 0 4px" },
  ".cm-lint-marker": { width: "9px", height: "9px", marginTop: "5px", content: "none", borderRadius: "50%" },
  ".cm-lint-marker-error": { backgroundColor: "var(--failed)" },
  ".cm-lint-marker-warning": { backgroundColor: "var(--skipped)", borderRadius: "1px", transform: "rotate(45deg)" },
  ".cm-lintRange": { backgroundImage: "none", textDecoration: "underline wavy 1px", textUnderlineOffset: "3px" },
  ".cm-lintRange-error": { textDecorationColor: "var(--failed)" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--skipped)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active-line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selection)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)", color: "inherit" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--ink)",
    border: "1px solid var(--edge)",
    borderRadius: "8px",
    boxShadow: "var(--shadow)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "12.5px", maxHeight: "15em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 10px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent-soft)",
    color: "var(--ink)",
  },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal", marginLeft: "1.2em" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700", color: "var(--accent)" },
  ".cm-tooltip.cm-completionInfo": { padding: "8px 10px", maxWidth: "320px", lineHeight: "1.45" },
  ".field-help, .cm-diagnostic": {
    maxWidth: "420px",
    padding: "8px 12px",
    fontFamily: "var(--sans)",
    lineHeight: "1.45",
  },
  ".field-help p": { margin: "0" },
  ".field-help p + p": { marginTop: "4px" },
  ".field-help": { maxHeight: "220px", overflow: "auto" },
  ".field-name": { fontFamily: "var(--mono)", fontWeight: "600" },
  ".field-type": { color: "var(--muted)", fontWeight: "400" },
  ".cm-diagnostic": { borderLeft: "3px solid var(--failed)", marginLeft: "0" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--skipped)" },
  ".cm-diagnosticText p": { margin: "0" },
  ".cm-diagnosticText p + p": { color: "var(--muted)", marginTop: "2px" },
  ".cm-panels": { backgroundColor: "var(--stripe)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-panel.cm-search": { padding: "6px 8px" },
  ".cm-textfield": { backgroundColor: "var(--surface)", border: "1px solid var(--edge)", borderRadius: "5px" },
  ".cm-button": {
    backgroundImage: "none",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--edge)",
    borderRadius: "5px",
  },
  ".cm-searchMatch": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
});

export const theme: Extension = [look, syntaxHighlighting(colours)];
