/** Something a scenario made happen: an outage, a lost node, a user's edit. */
export interface ScenarioEventRecord {
  readonly type: "happening";
  readonly at: string;
  /** When it is over, for what lasts. */
  readonly until?: string;
  /** Its name in the scenario file, e.g. `controllerDown`. */
  readonly kind: string;
  /** One line for people. */
  readonly message: string;
  readonly involved?: { readonly kind: string; readonly namespace: string; readonly name: string };
}
