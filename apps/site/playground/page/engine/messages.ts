import type { SimulationRequest, SimulationResult, FuturesResult, Problem } from "@kubewright/analysis/browser";

/** Tasks of the engine. */
export interface Tasks {
  simulate: { readonly request: SimulationRequest; readonly result: SimulationResult };
  futures: { readonly request: SimulationRequest & { readonly seeds: string }; readonly result: FuturesResult };
  trace: { readonly request: SimulationRequest; readonly result: string };
  report: {
    readonly request: SimulationRequest & { readonly page: { readonly script: string; readonly style: string } };
    readonly result: string;
  };
}

export type TaskName = keyof Tasks;

export type ToEngine =
  | {
      readonly [Name in TaskName]: {
        readonly id: number;
        readonly task: Name;
        readonly request: Tasks[Name]["request"];
      };
    }[TaskName]
  | { readonly id: number; readonly task: "cancel" };

export type FromEngine =
  | { readonly id: number; readonly type: "progress"; readonly done: number }
  /** Sent before the simulation starts. */
  | { readonly id: number; readonly type: "problems"; readonly problems: readonly Problem[] }
  | { readonly id: number; readonly type: "result"; readonly result: Tasks[TaskName]["result"] }
  /** `message` is for users when `isUsers` is true; otherwise it is a defect of kubewright. */
  | { readonly id: number; readonly type: "failure"; readonly message: string; readonly isUsers: boolean };
