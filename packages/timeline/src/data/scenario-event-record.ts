/** An event that a scenario caused: an outage, a lost node, a user's edit. */
export interface ScenarioEventRecord {
  readonly type: "scenarioEvent";
  readonly at: string;
  /** End time of an event that lasts. */
  readonly until?: string;
  /** Its key in the scenario file, for example `controllerDown`. */
  readonly kind: string;
  /** One readable line. */
  readonly message: string;
  readonly involved?: { readonly kind: string; readonly namespace: string; readonly name: string };
}
