import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Annotation, Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { h } from "@kubewright/timeline/page";
import type { Problem } from "@kubewright/analysis/browser";

import { theme } from "./theme.ts";
import { typingOver } from "./typing-over.ts";

export interface EditorOptions {
  /** Accessible name of the editor. */
  readonly label: string;
  /** Called after each edit by the user. */
  readonly onWrite: (text: string) => void;
}

/** Marks edits by the program. */
const isProgrammatic = Annotation.define<boolean>();

/**
 * A YAML editor in a shadow tree. There its style sheets are constructed ones, which a strict content security policy
 * allows.
 */
export class Editor {
  readonly element = h("div", { class: "editor" });
  readonly #view: EditorView;
  readonly #extensions: Extension;
  readonly #later = new Compartment();
  #help: Extension = [];

  constructor({ label, onWrite }: EditorOptions) {
    const root = this.element.attachShadow({ mode: "open" });
    this.#extensions = [
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      EditorState.allowMultipleSelections.of(true),
      indentUnit.of("  "),
      indentOnInput(),
      bracketMatching(),
      typingOver,
      highlightActiveLine(),
      highlightActiveLineGutter(),
      yaml(),
      keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
      theme,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({
        "aria-label": label,
        tabindex: "0",
        autocapitalize: "off",
        spellcheck: "false",
      }),
      EditorView.updateListener.of(({ docChanged, transactions, state }) => {
        if (docChanged && transactions.every((transaction) => transaction.annotation(isProgrammatic) !== true))
          onWrite(state.doc.toString());
      }),
    ];
    this.#view = new EditorView({ parent: root, root, state: this.#stateOf("") });
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  /** Adds editor features that are loaded later. */
  addHelp(help: Extension): void {
    this.#help = help;
    this.#view.dispatch({ effects: this.#later.reconfigure(help) });
  }

  /** Opens another document and clears the undo history. */
  open(text: string): void {
    this.#view.setState(this.#stateOf(text));
  }

  /** Replaces the text with the edit of a form, as an undoable change. */
  replace(text: string): void {
    const before = this.text;
    if (text === before) return;
    let from = 0;
    while (from < Math.min(text.length, before.length) && text[from] === before[from]) from++;
    let behind = 0;
    while (
      behind < Math.min(text.length, before.length) - from &&
      text[text.length - 1 - behind] === before[before.length - 1 - behind]
    )
      behind++;
    this.#view.dispatch({
      changes: { from, to: before.length - behind, insert: text.slice(from, text.length - behind) },
      annotations: isProgrammatic.of(true),
    });
  }

  showProblems(problems: readonly Problem[]): void {
    const { state } = this.#view;
    const diagnostics = problems.map((problem): Diagnostic => {
      const { message, hint, field, severity } = problem;
      return {
        ...rangeOf(state, problem),
        severity,
        message: [field === undefined ? message : `${field}: ${message}`, hint].filter(Boolean).join(" "),
        renderMessage: () =>
          h(
            "div",
            {},
            h("p", {}, field !== undefined && `${field}: `, message),
            hint !== undefined && h("p", {}, hint),
          ),
      };
    });
    this.#view.dispatch(setDiagnostics(state, diagnostics));
  }

  /** @param line - Line, and column, from 1. */
  goTo(line: number, column = 1): void {
    const { doc } = this.#view.state;
    const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
    const at = Math.min(from + column - 1, to);
    this.#view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    this.#view.focus();
  }

  focus(): void {
    this.#view.focus();
  }

  #stateOf(doc: string): EditorState {
    return EditorState.create({ doc, extensions: [this.#later.of(this.#help), this.#extensions] });
  }
}

function rangeOf({ doc }: EditorState, { line, column, endColumn }: Problem): { from: number; to: number } {
  const { from, to, text } = doc.line(Math.min(Math.max(1, line ?? 1), doc.lines));
  const start = column === undefined ? from + text.length - text.trimStart().length : Math.min(from + column - 1, to);
  const end = endColumn === undefined ? to : Math.min(from + endColumn - 1, to);
  // A diagnostic must underline at least one character.
  return end > start ? { from: start, to: end } : { from: Math.max(from, Math.min(start, to - 1)), to };
}
