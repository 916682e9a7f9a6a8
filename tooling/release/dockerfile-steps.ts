import { cpSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** Result of a Dockerfile's last stage: its files and settings. */
export interface BuiltImage {
  /** The folder that corresponds to the image's root. */
  readonly folder: string;
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly user: string;
}

/**
 * Executes the steps of a Dockerfile without a container. Every stage is a folder, `COPY` copies into it, and `RUN`
 * runs in it as the current user, with this machine's Node. This checks that the copied files exist and that the
 * commands succeed, but not the base images. Supports only the instructions in kubewright's files.
 *
 * @param context - The build context, without the files in `.dockerignore`.
 * @throws Error for an unsupported instruction; errors of `run`.
 */
export function takeDockerfileSteps(
  dockerfile: string,
  { context, scratch, run }: { context: string; scratch: string; run: (command: string, cwd: string) => void },
): BuiltImage {
  const stages = new Map<string, string>();
  let image: BuiltImage | undefined;
  for (const [instruction, rest] of instructions(readFileSync(dockerfile, "utf8"))) {
    if (instruction === "FROM") {
      const name = /\sAS\s+(\S+)$/i.exec(rest)?.[1] ?? `stage-${stages.size}`;
      const folder = path.join(scratch, name);
      mkdirSync(folder, { recursive: true });
      stages.set(name, folder);
      image = { folder, workingDirectory: "/", environment: {}, entrypoint: [], user: "0" };
      continue;
    }
    if (image === undefined) throw new Error(`${instruction} before FROM`);
    const { folder, workingDirectory } = image;
    const inside = (to: string): string => path.join(folder, path.posix.resolve(workingDirectory, to));
    switch (instruction) {
      case "WORKDIR":
        image = { ...image, workingDirectory: path.posix.resolve(workingDirectory, rest) };
        mkdirSync(inside(rest), { recursive: true });
        break;
      case "COPY": {
        const [, stage, files] = /^(?:--from=(\S+)\s+)?(.*)$/.exec(rest) ?? [];
        const [to, ...from] = files!.split(/\s+/).reverse();
        for (const file of from.reverse()) {
          const source = stage === undefined ? path.join(context, file) : path.join(stages.get(stage)!, file);
          const target = inside(to!);
          const isInto = to!.endsWith("/") && !file.endsWith("/.") && file !== ".";
          cpSync(source, isInto ? path.join(target, path.basename(file)) : target, {
            recursive: true,
            verbatimSymlinks: true,
          });
        }
        break;
      }
      case "RUN":
        run(rest, inside("."));
        break;
      case "ENV": {
        const [name, value] = rest.split("=", 2);
        image = { ...image, environment: { ...image.environment, [name!]: value! } };
        break;
      }
      case "USER":
        image = { ...image, user: rest };
        break;
      case "ENTRYPOINT":
        image = { ...image, entrypoint: JSON.parse(rest) as string[] };
        break;
      case "LABEL":
      case "EXPOSE":
      case "CMD":
        break;
      default:
        throw new Error(`${path.basename(dockerfile)}: no step for ${instruction}`);
    }
  }
  if (image === undefined) throw new Error(`${dockerfile} builds nothing`);
  return image;
}

/** Returns the instructions with their arguments. Joins continued lines. */
function instructions(text: string): [string, string][] {
  return text
    .replace(/^\s*#.*\n/gm, "")
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [instruction, ...rest] = line.trim().split(/\s+/);
      return [instruction!.toUpperCase(), rest.join(" ")];
    });
}
