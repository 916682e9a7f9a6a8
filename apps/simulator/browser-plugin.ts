import type { Plugin } from "esbuild";

/**
 * For who bundles `kubewright/browser` from its sources: leaves out what evaluates expressions (CEL and RE2), a fifth of it,
 * which only definitions of resources and admission policies need. Such a bundle serves requests of which
 * `needsExpressions` says no; for the others there has to be a whole one.
 */
export const withoutExpressions: Plugin = {
  name: "without expressions",
  setup: (build) => {
    build.onLoad({ filter: /[\\/]apiserver[\\/]src[\\/]cel[\\/]environment\.ts$/ }, () => ({
      contents: `export class ExpressionEnvironment { compile() { ${REFUSED} } }`,
    }));
    build.onLoad({ filter: /[\\/]node_modules[\\/]re2js[\\/]/ }, () => ({
      contents: `export class RE2JS { static compile() { ${REFUSED} } }`,
    }));
  },
};

const REFUSED = `throw new Error("this bundle evaluates no expressions");`;
