/** Made by the build, which `made-modules.ts` is a part of. Large, so import it where it is asked for. */
declare module "playground:schemas" {
  import type { ApiSchema } from "../api-schema.ts";
  import type { JsonSchema } from "./editor/json-schema.ts";

  export const api: ApiSchema;
  export const scenario: JsonSchema;
}

/** What a report is made of besides its data, as text. */
declare module "playground:page-files" {
  export const script: string;
  export const style: string;
}

/** See `browser-plugin.ts` of the simulator. */
declare module "kubewright:expressions" {
  /** Loads what evaluates expressions, once. */
  export function loadExpressions(): Promise<void>;
}

/** The same. */
declare module "kubewright:sharding" {
  /** Loads controller managers that share work, once. */
  export function loadSharding(): Promise<void>;
}

declare module "*.yaml" {
  const text: string;
  // What esbuild's loader for texts gives has no other name.
  // oxlint-disable-next-line import/no-default-export
  export default text;
}
