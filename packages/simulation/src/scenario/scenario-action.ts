/** What is to be done when a happening's time has come: what to say of it, and how it ends. */
export interface ScenarioAction {
  /** One line for people. */
  readonly message: string;
  readonly involved?: { readonly kind: string; readonly namespace: string; readonly name: string };
  /** Of what lasts by its nature, when that is not known from the file. */
  readonly begin?: () => Promise<unknown> | void;
  readonly end?: () => Promise<unknown> | void;
}
