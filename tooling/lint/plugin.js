/**
 * The project's lint rules. Time, randomness, the network, files and the environment are arguments. Modules have no
 * mutable state at their top level.
 */

const GLOBAL_FUNCTIONS = new Map([
  ["setTimeout", "take a Clock and call setTimer or sleep"],
  ["setInterval", "take a Clock and loop over sleep"],
  ["setImmediate", "take a Clock and call turn"],
  ["queueMicrotask", "await a promise, or take a Clock and call turn"],
  ["fetch", "take a Transport"],
  ["performance", "take a Clock and call monotonic"],
  ["process", "take what is needed as an argument from the app's main"],
  ["crypto", "take a Random"],
]);

const MEMBERS = new Map([
  ["Date.now", "take a Clock and call now"],
  ["Math.random", "take a Random"],
  ["globalThis.setTimeout", "take a Clock"],
]);

const NODE_MODULES_ALLOWED = new Set(["node:util", "node:buffer"]);

const ambient = {
  meta: { type: "problem", docs: { description: "time, randomness and I/O are arguments" } },
  create(context) {
    const report = (node, what, instead) => context.report({ node, message: `${what} is ambient: ${instead}.` });
    const checkImport = (node) => {
      const source = node.source?.value;
      if (
        typeof source === "string" &&
        source.startsWith("node:") &&
        !NODE_MODULES_ALLOWED.has(source) &&
        node.importKind !== "type"
      ) {
        report(node, source, "files, sockets and processes are wrapped in one place and handed in");
      }
    };
    return {
      ImportDeclaration: checkImport,
      ImportExpression: checkImport,
      NewExpression(node) {
        if (node.callee.type === "Identifier" && node.callee.name === "Date" && node.arguments.length === 0)
          report(node, "new Date()", "take a Clock and call now");
      },
      CallExpression(node) {
        if (node.callee.type === "Identifier" && node.callee.name === "Date")
          report(node, "Date()", "take a Clock and call now");
        if (node.callee.type === "Identifier" && GLOBAL_FUNCTIONS.has(node.callee.name))
          report(node, node.callee.name, GLOBAL_FUNCTIONS.get(node.callee.name));
      },
      MemberExpression(node) {
        if (node.object.type !== "Identifier") return;
        const name = node.object.name;
        const property = node.computed ? undefined : node.property.name;
        if (MEMBERS.has(`${name}.${property}`)) report(node, `${name}.${property}`, MEMBERS.get(`${name}.${property}`));
        else if (GLOBAL_FUNCTIONS.has(name) && !isDeclared(context, node.object))
          report(node, `${name}.${property}`, GLOBAL_FUNCTIONS.get(name));
      },
    };
  },
};

function isDeclared(context, identifier) {
  for (let scope = context.sourceCode.getScope(identifier); scope; scope = scope.upper) {
    const variable = scope.set.get(identifier.name);
    if (variable !== undefined) return variable.defs.length > 0;
  }
  return false;
}

const moduleState = {
  meta: { type: "problem", docs: { description: "two of everything fit in one process" } },
  create(context) {
    return {
      "Program > VariableDeclaration"(node) {
        if (node.kind !== "const" && !node.declare)
          context.report({ node, message: "module-level state: put it into an object with an owner." });
      },
    };
  },
};

export default {
  meta: { name: "kubewright" },
  rules: { "no-ambient-io": ambient, "no-module-state": moduleState },
};
