import { h, addListener } from "@kubewright/timeline/page";
import type { Problem } from "@kubewright/analysis/browser";

/** Maximum number of displayed problems. */
const MAX_SHOWN = 50;

const NAMES: Readonly<Record<Problem["document"], string>> = {
  manifests: "manifests.yaml",
  scenario: "scenario.yaml",
  workloads: "workloads.yaml",
  request: "",
};

/** The list of problems, each with a link to its line. */
export class ProblemsView {
  readonly element = h("ul", { class: "problems", "aria-label": "Problems", hidden: true });
  readonly #goTo: (problem: Problem) => void;

  constructor(goTo: (problem: Problem) => void) {
    this.#goTo = goTo;
  }

  render(problems: readonly Problem[]): void {
    this.element.hidden = problems.length === 0;
    const rest = problems.length - MAX_SHOWN;
    this.element.replaceChildren(
      ...problems.slice(0, MAX_SHOWN).map((problem) => this.#item(problem)),
      ...(rest > 0 ? [h("li", { class: "hint" }, `and ${rest.toLocaleString("en")} more`)] : []),
    );
  }

  #item(problem: Problem): HTMLElement {
    const { document, line, column, field, message, hint, severity } = problem;
    const place = [NAMES[document], line, line === undefined ? undefined : column].filter(Boolean).join(":");
    return h(
      "li",
      {},
      addListener(
        h(
          "button",
          { type: "button", class: `problem ${severity}` },
          h("span", { class: "visually-hidden" }, severity === "error" ? "Error: " : "Warning: "),
          h(
            "span",
            { class: "message" },
            field !== undefined && h("b", {}, `${field}: `),
            message,
            hint !== undefined && ` ${hint}`,
          ),
          place !== "" && h("span", { class: "place" }, place),
        ),
        { onclick: () => this.#goTo(problem) },
      ),
    );
  }
}
