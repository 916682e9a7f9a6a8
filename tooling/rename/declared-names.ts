import ts from "typescript";

/** A declared name with the path of the named declarations around it: `BucketFence.#owners`, `planJob.counts`. */
export interface DeclaredName {
  readonly path: string;
  readonly name: string;
  readonly node: ts.Identifier | ts.PrivateIdentifier | ts.StringLiteral;
  readonly declaration: ts.Declaration;
}

type Named = ts.Declaration & { readonly name?: ts.Node };

/** All names that a source file declares: types, members, functions, parameters, locals and members of object literals. */
export function declaredNames(file: ts.SourceFile): DeclaredName[] {
  const names: DeclaredName[] = [];
  visit(file, []);
  return names;

  function visit(node: ts.Node, scope: readonly string[]): void {
    let inner = scope;
    const { name } = node as Named;
    if (isDeclaration(node) && name !== undefined && isName(name)) {
      names.push({ path: [...scope, name.text].join("."), name: name.text, node: name, declaration: node });
      inner = [...scope, name.text];
    } else if (ts.isConstructorDeclaration(node)) inner = [...scope, "constructor"];
    ts.forEachChild(node, (child) => {
      visit(child, inner);
    });
  }
}

function isName(node: ts.Node): node is ts.Identifier | ts.PrivateIdentifier | ts.StringLiteral {
  return ts.isIdentifier(node) || ts.isPrivateIdentifier(node) || ts.isStringLiteral(node);
}

function isDeclaration(node: ts.Node): node is ts.Declaration {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isFunctionExpression(node) ||
    ts.isClassDeclaration(node) ||
    ts.isClassExpression(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isEnumDeclaration(node) ||
    ts.isEnumMember(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertySignature(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isMethodSignature(node) ||
    ts.isGetAccessorDeclaration(node) ||
    ts.isSetAccessorDeclaration(node) ||
    ts.isPropertyAssignment(node) ||
    ts.isShorthandPropertyAssignment(node) ||
    ts.isTypeParameterDeclaration(node) ||
    ts.isNamedTupleMember(node) ||
    ts.isModuleDeclaration(node)
  );
}
