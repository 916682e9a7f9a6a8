import type { Files, OutputFile, Spool } from "./files.js";
import type { Output } from "./output.js";

/** Returns an output that writes everything to standard output when it is closed, and nothing when it is discarded. */
export async function spooledOutput(io: Pick<Files, "openSpool"> & Pick<Output, "stdout">): Promise<OutputFile> {
  const spool = (await io.openSpool?.()) ?? memorySpool();
  return {
    write: (text) => spool.write(text),
    async close() {
      for await (const text of spool.read()) io.stdout.write(text);
      await spool.close();
    },
    discard: () => spool.close(),
  };
}

function memorySpool(): Spool {
  const texts: string[] = [];
  return {
    write: async (text) => void texts.push(text),
    async *read() {
      yield* texts;
    },
    close: async () => {},
  };
}
