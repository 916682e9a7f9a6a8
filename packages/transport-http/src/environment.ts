/** Environment variables, passed in by the app. This package never reads the process's own. */
export type Environment = Readonly<Record<string, string | undefined>>;
