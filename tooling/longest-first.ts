import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Orders test files by their duration in the previous run, or by their size, but those outside of `src` first: they start
 * browsers, processes or long simulations. A long file that starts last would leave the other workers idle.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => !moduleId.includes("/src/");
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
