/** What to do at a scenario event's time: how to describe it, begin it and end it. */
export interface ScenarioAction {
  /** One line for people. */
  readonly message: string;
  readonly involved?: { readonly kind: string; readonly namespace: string; readonly name: string };
  /** Absent when the fault is active already. */
  readonly begin?: () => Promise<unknown> | void;
  readonly end?: () => Promise<unknown> | void;
}
