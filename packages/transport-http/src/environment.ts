/** Environment variables, handed in by the app: nothing here reads the process's own. */
export type Environment = Readonly<Record<string, string | undefined>>;
