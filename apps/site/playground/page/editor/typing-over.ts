import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

/**
 * Replaces a selection by typed text without the browser's default action. Chromium would insert the text with the old
 * text's style as an attribute. The content security policy rejects that with an error.
 */
export const typingOver: Extension = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { inputType, data } = event;
    const { from, to, empty } = view.state.selection.main;
    if (inputType !== "insertText" || data === null || empty || view.composing) return false;
    event.preventDefault();
    const insert = (): ReturnType<typeof view.state.update> =>
      view.state.update(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
    // For example the handler that puts a selection between quotes.
    const isHandled = view.state
      .facet(EditorView.inputHandler)
      .some((handler) => handler(view, from, to, data, insert));
    if (!isHandled) view.dispatch(insert());
    return true;
  },
});
