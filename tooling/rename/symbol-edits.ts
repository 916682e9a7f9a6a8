import path from "node:path";

import ts from "typescript";

import type { PlannedRename } from "./planned-renames.ts";

/** A replacement of source text; what it becomes depends on which packages are renamed by then. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly render: (isActive: (pkg: string) => boolean) => string;
}

interface Target {
  readonly to: string;
  readonly pkg: string;
}

export interface SymbolEdits {
  readonly edits: ReadonlyMap<string, readonly Edit[]>;
  readonly conflicts: readonly string[];
}

/** The package or folder that a file belongs to, the unit of one commit: `packages/job`. */
export function packageOf(file: string): string {
  const parts = file.split("/");
  return ["packages", "apps", "examples"].includes(parts[0]!) ? parts.slice(0, 2).join("/") : parts[0]!;
}

type ScopedNode = ts.Node & { readonly locals?: ts.SymbolTable };

/** Finds every reference to what is renamed, by the checker's symbols. */
export function symbolEdits(
  program: ts.Program,
  files: readonly ts.SourceFile[],
  renames: readonly PlannedRename[],
  root: string,
  literals: ReadonlyMap<string, { readonly to: string; readonly pkg: string }>,
): SymbolEdits {
  const checker = program.getTypeChecker();
  const planned = new Map<ts.Node, Target>();
  const conflicts: string[] = [];
  for (const { declaration, file, to } of renames) planned.set(declaration, { to, pkg: packageOf(file) });

  const contextualCache = new Map<ts.Node, readonly ts.Symbol[]>();

  /** The properties that a member of an object literal is checked against, of all members of a union. */
  function contextualProperties(
    member: ts.ObjectLiteralElementLike | ts.JsxAttribute,
    name: string,
  ): readonly ts.Symbol[] {
    const cached = contextualCache.get(member);
    if (cached !== undefined) return cached;
    const found: ts.Symbol[] = [];
    if (ts.isObjectLiteralExpression(member.parent)) {
      const type = contextualTypeOf(member.parent);
      if (type !== undefined) {
        for (const part of type.isUnionOrIntersection() ? [type, ...type.types] : [type]) {
          const property =
            checker.getPropertyOfType(part, name) ?? checker.getPropertyOfType(checker.getNonNullableType(part), name);
          if (property !== undefined) found.push(property);
        }
      }
    }
    contextualCache.set(member, found);
    return found;
  }

  function contextualTypeOf(literal: ts.ObjectLiteralExpression): ts.Type | undefined {
    const { parent } = literal;
    // `{…} satisfies T` and destructuring assignments.
    if (ts.isSatisfiesExpression(parent)) return checker.getTypeFromTypeNode(parent.type);
    return checker.getContextualType(literal);
  }

  function declarationsOf(symbol: ts.Symbol | undefined): readonly ts.Declaration[] {
    if (symbol === undefined) return [];
    let current = symbol;
    if (current.flags & ts.SymbolFlags.Alias) current = checker.getAliasedSymbol(current);
    return current.declarations ?? [];
  }

  const memo = new Map<ts.Symbol, Target | undefined>();
  function targetOf(symbol: ts.Symbol | undefined): Target | undefined {
    if (symbol === undefined) return undefined;
    if (memo.has(symbol)) return memo.get(symbol);
    memo.set(symbol, undefined);
    const target = findTarget(symbol);
    memo.set(symbol, target);
    return target;
  }

  function findTarget(symbol: ts.Symbol): Target | undefined {
    for (const declaration of declarationsOf(symbol)) {
      // A member of `Pick<typeof import("…"), …>`.
      if (ts.isExportSpecifier(declaration)) {
        const exported = checker.getExportSpecifierLocalTargetSymbol(declaration);
        const target = exported === symbol ? undefined : targetOf(exported);
        if (target !== undefined && declaration.propertyName === undefined) return target;
        continue;
      }
      // A member of an object literal is what its contextual type says.
      if (isLiteralMember(declaration)) {
        const properties = contextualProperties(declaration, symbol.name).filter(
          (property) => property !== symbol && !property.declarations?.includes(declaration),
        );
        if (properties.length > 0) {
          for (const property of properties) {
            const target = targetOf(property);
            if (target !== undefined) return target;
          }
          if (properties.some((property) => (property.declarations?.length ?? 0) > 0)) continue;
        }
      }
      // What implements a member is renamed with it, also in another package.
      for (const base of baseMembers(declaration, symbol.name)) {
        const target = targetOf(base);
        if (target !== undefined) return target;
      }
      const own = planned.get(declaration);
      if (own !== undefined) return own;
    }
    return undefined;
  }

  /** What a member of a class or an interface implements or overrides. */
  function baseMembers(declaration: ts.Declaration, name: string): readonly ts.Symbol[] {
    const { parent } = declaration;
    if (
      parent === undefined ||
      !(ts.isClassLike(parent) || ts.isInterfaceDeclaration(parent)) ||
      parent.heritageClauses === undefined
    )
      return [];
    const types = parent.heritageClauses.flatMap((clause) =>
      clause.types.map((type) => checker.getTypeAtLocation(type)),
    );
    return types.flatMap((type) => propertyIn(type, name) ?? []);
  }

  function isLiteralMember(
    node: ts.Node,
  ): node is ts.PropertyAssignment | ts.ShorthandPropertyAssignment | ts.MethodDeclaration {
    return (
      (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node) || ts.isMethodDeclaration(node)) &&
      ts.isObjectLiteralExpression(node.parent)
    );
  }

  /** The property that `{ name }` of a binding pattern takes out of its source. */
  function boundProperty(element: ts.BindingElement): ts.Symbol | undefined {
    if (!ts.isObjectBindingPattern(element.parent)) return undefined;
    const name = element.propertyName ?? element.name;
    if (!ts.isIdentifier(name)) return undefined;
    const type = checker.getTypeAtLocation(element.parent);
    return propertyIn(type, name.text);
  }

  function propertyIn(type: ts.Type, name: string): ts.Symbol | undefined {
    const direct = checker.getPropertyOfType(type, name);
    if (direct !== undefined) return direct;
    const nonNull = checker.getNonNullableType(type);
    for (const part of nonNull.isUnionOrIntersection() ? nonNull.types : [nonNull]) {
      const property = checker.getPropertyOfType(part, name);
      if (property !== undefined) return property;
    }
    return undefined;
  }

  function shorthandProperty(node: ts.ShorthandPropertyAssignment): Target | undefined {
    const properties = contextualProperties(node, node.name.text);
    for (const property of properties) {
      const target = targetOf(property);
      if (target !== undefined) return target;
    }
    if (
      properties.some((property) => (property.declarations?.length ?? 0) > 0 && !property.declarations!.includes(node))
    )
      return undefined;
    return planned.get(node);
  }

  // A local that only carries a property's name follows the property.
  for (let changed = true; changed;) {
    changed = false;
    for (const file of files) visit(file);
    memo.clear();
    function visit(node: ts.Node): void {
      if (ts.isBindingElement(node) && node.propertyName === undefined && ts.isIdentifier(node.name)) {
        const target = targetOf(boundProperty(node));
        if (target !== undefined && !planned.has(node)) follow([node], target);
      } else if (ts.isShorthandPropertyAssignment(node)) {
        const target = shorthandProperty(node);
        const value = checker.getShorthandAssignmentValueSymbol(node);
        const declarations = value?.declarations ?? [];
        if (
          target !== undefined &&
          declarations.length > 0 &&
          declarations.every((each) => isLocal(each) && !planned.has(each))
        )
          follow(declarations, target);
      }
      ts.forEachChild(node, visit);
    }
    function follow(declarations: readonly ts.Declaration[], target: Target): void {
      if (RESERVED.has(target.to) || mentions(functionAround(declarations[0]!), target.to)) return;
      for (const declaration of declarations) planned.set(declaration, target);
      changed = true;
    }
  }

  const edits = new Map<string, Edit[]>();
  const newNames = new Set([...planned.values()].map(({ to }) => to));
  for (const file of files) {
    const list: Edit[] = [];
    edits.set(file.fileName, list);
    visitReferences(file, file, list);
  }
  return { edits, conflicts };

  function visitReferences(file: ts.SourceFile, node: ts.Node, list: Edit[]): void {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node) || ts.isStringLiteral(node)) reference(file, node, list);
    ts.forEachChild(node, (child) => {
      visitReferences(file, child, list);
    });
    const { jsDoc } = node as { jsDoc?: readonly ts.Node[] };
    for (const doc of jsDoc ?? []) visitReferences(file, doc, list);
  }

  function reference(
    file: ts.SourceFile,
    node: ts.Identifier | ts.PrivateIdentifier | ts.StringLiteral,
    list: Edit[],
  ): void {
    const { parent } = node;
    const [start, end] = ts.isStringLiteral(node)
      ? [node.getStart(file) + 1, node.end - 1]
      : [node.getStart(file), node.end];
    const push = (target: Target | undefined): void => {
      if (target === undefined || target.to === node.text) return;
      const old = node.text;
      list.push({ start, end, render: (isActive) => (isActive(target.pkg) ? target.to : old) });
    };
    if (ts.isIdentifier(node) && ts.isShorthandPropertyAssignment(parent) && parent.name === node) {
      const property = shorthandProperty(parent);
      const value = targetOf(checker.getShorthandAssignmentValueSymbol(parent));
      checkScope(file, node, checker.getShorthandAssignmentValueSymbol(parent));
      if (property !== undefined || value !== undefined) list.push(pair(node, property, value, start, end));
      return;
    }
    if (
      ts.isIdentifier(node) &&
      ts.isBindingElement(parent) &&
      parent.name === node &&
      parent.propertyName === undefined &&
      ts.isObjectBindingPattern(parent.parent) &&
      parent.dotDotDotToken === undefined
    ) {
      const bound = boundProperty(parent);
      const local = planned.get(parent);
      // `({ name = true } = {})` declares the property itself.
      const isOwn = bound !== undefined && (bound.declarations ?? []).every((each) => each === parent);
      const property = targetOf(bound) ?? (isOwn ? local : undefined);
      checkScope(file, node, checker.getSymbolAtLocation(node));
      if (property !== undefined || local !== undefined) list.push(pair(node, property, local, start, end));
      return;
    }
    if (ts.isBindingElement(parent) && parent.propertyName === node) {
      push(targetOf(boundProperty(parent)));
      return;
    }
    if (ts.isPropertyAssignment(parent) && parent.name === node) {
      const properties = contextualProperties(parent, node.text);
      for (const property of properties) {
        const target = targetOf(property);
        if (target !== undefined) {
          push(target);
          return;
        }
      }
      if (
        properties.some(
          (property) => (property.declarations?.length ?? 0) > 0 && !property.declarations!.includes(parent),
        )
      )
        return;
      push(planned.get(parent));
      return;
    }
    if (ts.isMethodDeclaration(parent) && parent.name === node && ts.isObjectLiteralExpression(parent.parent)) {
      for (const property of contextualProperties(parent, node.text)) {
        const target = targetOf(property);
        if (target !== undefined) {
          push(target);
          return;
        }
      }
      push(planned.get(parent));
      return;
    }
    if (ts.isNamedTupleMember(parent) && parent.name === node) {
      push(planned.get(parent));
      return;
    }
    if (ts.isStringLiteral(node)) {
      // Names in quotes: `object["name"]`, `"name" in object`, and literal types checked against `keyof T`.
      if (ts.isElementAccessExpression(parent)) push(targetOf(checker.getSymbolAtLocation(node)));
      else if (ts.isLiteralTypeNode(parent)) push(keyTarget(parent, node.text) ?? literals.get(node.text));
      else if (
        ts.isBinaryExpression(parent) &&
        parent.operatorToken.kind === ts.SyntaxKind.InKeyword &&
        parent.left === node
      )
        push(targetOf(propertyIn(checker.getTypeAtLocation(parent.right), node.text)));
      else if ((ts.isPropertySignature(parent) || ts.isPropertyDeclaration(parent)) && parent.name === node)
        push(planned.get(parent));
      else push(literals.get(node.text));
      return;
    }
    if (ts.isExportSpecifier(parent) && parent.propertyName === undefined && parent.name === node) {
      push(targetOf(checker.getExportSpecifierLocalTargetSymbol(parent)));
      return;
    }
    const symbol = checker.getSymbolAtLocation(node);
    if (symbol === undefined) return;
    // The alias of `import { name as alias }` is a name of its own.
    const aliasDeclaration = symbol.declarations?.[0];
    if (
      symbol.flags & ts.SymbolFlags.Alias &&
      aliasDeclaration !== undefined &&
      ts.isImportSpecifier(aliasDeclaration) &&
      aliasDeclaration.propertyName !== undefined &&
      aliasDeclaration.propertyName !== node
    )
      return;
    if (!isInDoc(node) && !isMemberPosition(node)) checkScope(file, node, symbol);
    push(targetOf(symbol));
  }

  function pair(
    node: ts.Identifier,
    property: Target | undefined,
    value: Target | undefined,
    start: number,
    end: number,
  ): Edit {
    const old = node.text;
    return {
      start,
      end,
      render: (isActive) => {
        const left = property !== undefined && isActive(property.pkg) ? property.to : old;
        const right = value !== undefined && isActive(value.pkg) ? value.to : old;
        return left === right ? left : `${left}: ${right}`;
      },
    };
  }

  /** The property that a literal type names in `Pick<T, "name">`, `Omit`, `T["name"]`. */
  function keyTarget(node: ts.LiteralTypeNode, name: string): Target | undefined {
    let current: ts.Node = node.parent;
    while (ts.isUnionTypeNode(current) || ts.isParenthesizedTypeNode(current)) current = current.parent;
    if (ts.isIndexedAccessTypeNode(current))
      return targetOf(propertyIn(checker.getTypeFromTypeNode(current.objectType), name));
    if (
      ts.isTypeReferenceNode(current) &&
      ts.isIdentifier(current.typeName) &&
      /^(Pick|Omit)$/.test(current.typeName.text)
    )
      return targetOf(propertyIn(checker.getTypeFromTypeNode(current.typeArguments![0]!), name));
    return undefined;
  }

  function isMemberPosition(node: ts.Node): boolean {
    const { parent } = node;
    return (
      ts.isPrivateIdentifier(node) ||
      (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
      (ts.isQualifiedName(parent) && parent.right === node) ||
      ts.isPropertySignature(parent) ||
      (ts.isPropertyDeclaration(parent) && parent.name === node) ||
      ts.isMethodSignature(parent) ||
      (ts.isMethodDeclaration(parent) && parent.name === node) ||
      (ts.isAccessor(parent) && parent.name === node) ||
      (ts.isImportSpecifier(parent) && parent.propertyName === node) ||
      (ts.isExportSpecifier(parent) && parent.propertyName !== undefined)
    );
  }

  function isInDoc(node: ts.Node): boolean {
    for (let each: ts.Node | undefined = node; each !== undefined; each = each.parent)
      if (ts.isJSDoc(each)) return true;
    return false;
  }

  /** Reports a reference that the new names would bind to something else. */
  function checkScope(
    file: ts.SourceFile,
    node: ts.Identifier | ts.PrivateIdentifier,
    symbol: ts.Symbol | undefined,
  ): void {
    if (symbol === undefined) return;
    const name = targetOf(symbol)?.to ?? node.text;
    if (!newNames.has(name)) return;
    for (
      let scope: ScopedNode | undefined = node;
      scope !== undefined;
      scope = scope.parent as ScopedNode | undefined
    ) {
      if (scope.locals === undefined) continue;
      for (const each of scope.locals.values()) {
        if (each === symbol) return;
        if (
          each.flags & symbol.flags & (ts.SymbolFlags.Value | ts.SymbolFlags.Type | ts.SymbolFlags.Alias) ||
          each.flags & ts.SymbolFlags.Alias ||
          symbol.flags & ts.SymbolFlags.Alias
        ) {
          const eachName = targetOf(each)?.to ?? each.name;
          if (
            eachName === name &&
            (targetOf(each) !== undefined || targetOf(symbol) !== undefined) &&
            each.name !== node.text
          ) {
            const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
            conflicts.push(
              `${path.relative(root, file.fileName)}:${line}: ${node.text} would be ${name}, which ${each.name} is here`,
            );
            return;
          }
        }
      }
    }
  }
}

const RESERVED = new Set([
  "default",
  "delete",
  "in",
  "new",
  "return",
  "this",
  "void",
  "with",
  "function",
  "class",
  "enum",
  "export",
  "import",
]);

function isLocal(declaration: ts.Declaration): boolean {
  if (ts.isParameter(declaration) || ts.isBindingElement(declaration)) return true;
  if (!ts.isVariableDeclaration(declaration)) return false;
  const statement = declaration.parent.parent;
  return !(
    ts.isVariableStatement(statement) && statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  );
}

/** The outermost function around a node, or its file. */
function functionAround(node: ts.Node): ts.Node {
  let found: ts.Node = node.getSourceFile();
  for (let each: ts.Node | undefined = node; each !== undefined; each = each.parent)
    if (ts.isFunctionLike(each)) found = each;
  return found;
}

/** Whether an identifier of that name, other than a member's, is in the node. */
function mentions(node: ts.Node, name: string): boolean {
  let found = false;
  (function visit(each: ts.Node): void {
    if (found) return;
    if (
      ts.isIdentifier(each) &&
      each.text === name &&
      !(ts.isPropertyAccessExpression(each.parent) && each.parent.name === each) &&
      !ts.isPropertySignature(each.parent) &&
      !(ts.isPropertyAssignment(each.parent) && each.parent.name === each)
    )
      found = true;
    ts.forEachChild(each, visit);
  })(node);
  return found;
}
