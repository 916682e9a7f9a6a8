import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

/**
 * Types over a selection itself. Left to it, Chromium puts in what is typed with the style of what was there, as an attribute,
 * which the content security policy refuses, loudly.
 */
export const typingOver: Extension = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { inputType, data } = event;
    const { from, to, empty } = view.state.selection.main;
    if (inputType !== "insertText" || data === null || empty || view.composing) return false;
    event.preventDefault();
    const insert = (): ReturnType<typeof view.state.update> =>
      view.state.update(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
    // Such as the one that puts a selection between quotes.
    const isHandled = view.state
      .facet(EditorView.inputHandler)
      .some((handler) => handler(view, from, to, data, insert));
    if (!isHandled) view.dispatch(insert());
    return true;
  },
});
