/**
 * docs/reference/library.md, from what src/starter.ts exports. TypeDoc with its plugin for Markdown makes a worse page: 3,900
 * lines instead of 2,200, because each member gets headings instead of its place in the declaration. It also leaves out 43
 * types that the exported ones refer to, and shows `z.infer` and `typeof` for what they stand for.
 */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { block, code, page } from './markdown.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ENTRY = fileURLToPath(new URL('../../src/starter.ts', import.meta.url));

/** Types that a schema infers would fill pages: another page describes them. */
const ELSEWHERE: Record<string, string> = {
  Configuration: 'The content of `belay.yaml` after validation. See [belay.yaml](belay-yaml.md).',
};

type Declaration = ts.FunctionDeclaration | ts.ClassDeclaration | ts.InterfaceDeclaration | ts.TypeAliasDeclaration;

export function libraryPage(): string {
  const library = readLibrary();
  const exported = library.exports;
  const isValue = (it: Declaration) => ts.isFunctionDeclaration(it) || ts.isClassDeclaration(it);
  const sections = (title: string, declarations: Declaration[], text: string) => [
    `## ${title}`,
    text,
    declarations.map((it) => `[${nameOf(it)}](#${nameOf(it).toLowerCase()})`).join(' · '),
    ...declarations.map((it) => sectionOf(library, it)),
  ];
  return page(
    '# Library',
    'A Node program can start runs, wait for their results, and look at them. It needs Temporal and no API token. The package is for ES modules and for CommonJS: `import` and `require` load the same library.',
    block(
      'ts',
      [
        "import { BelayError, connect, exitCodeOf } from 'belay-deploy';",
        '',
        'let belay;',
        'try {',
        '  belay = await connect();',
        "  const run = await belay.start({ serverId: '12', siteIds: ['34'] }, { key: 'release-7' });",
        '  console.log(await run.result());',
        '} catch (error) {',
        '  if (!(error instanceof BelayError)) throw error;',
        '  console.error(error.type, error.message, error.result?.outcome);',
        '  process.exitCode = exitCodeOf(error); // as the command line',
        '} finally {',
        '  await belay?.close();',
        '}',
      ].join('\n'),
    ),
    ...sections('Functions and classes', exported.filter(isValue), 'The values that the package exports.'),
    ...sections('Handles', exported.filter(hasMethods), 'What `connect` gives you: objects with methods.'),
    ...sections(
      'Types',
      exported.filter((it) => !isValue(it) && !hasMethods(it)),
      'The shapes that these take and return.',
    ),
    ...sections(
      'Further types',
      furtherTypes(library),
      'The types above refer to these. The package does not export them.',
    ),
  );
}

const hasMethods = (it: Declaration): boolean => ts.isInterfaceDeclaration(it) && it.members.some(ts.isMethodSignature);

interface Library {
  program: ts.Program;
  checker: ts.TypeChecker;
  /** In the order of the file. */
  exports: Declaration[];
  /** The declarations of a source file, as a `.d.ts` has them. */
  emitted: (file: ts.SourceFile) => ts.SourceFile;
}

function readLibrary(): Library {
  const { config } = ts.readConfigFile(`${ROOT}/tsconfig.build.json`, (path) => ts.sys.readFile(path)) as {
    config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  // The type check of the repository finds errors.
  const declarations = { ...options, emitDeclarationOnly: true, incremental: false, noCheck: true };
  const program = ts.createProgram([ENTRY], declarations, hostFor(declarations));
  const checker = program.getTypeChecker();
  const entry = program.getSourceFile(ENTRY);
  const module = entry === undefined ? undefined : checker.getSymbolAtLocation(entry);
  if (module === undefined) throw new Error(`${ENTRY} exports nothing`);
  const cache = new Map<ts.SourceFile, ts.SourceFile>();
  return {
    program,
    checker,
    exports: checker.getExportsOfModule(module).map((it) => declarationOf(checker, it)),
    emitted(file) {
      const before = cache.get(file);
      if (before !== undefined) return before;
      let text = '';
      program.emit(file, (_, it) => (text = it), undefined, true);
      const parsed = ts.createSourceFile('emitted.d.ts', text, ts.ScriptTarget.Latest, true);
      cache.set(file, parsed);
      return parsed;
    },
  };
}

/** Nine megabytes of declarations that no page shows, but that cost most of the time. */
const UNSHOWN = /\/@temporalio\/proto\/.*\.d\.ts$/;

function hostFor(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile.bind(host);
  host.readFile = (path) => (UNSHOWN.test(path) ? 'export {};' : readFile(path));
  return host;
}

function declarationOf(checker: ts.TypeChecker, symbol: ts.Symbol): Declaration {
  const target = (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
  const found = target.declarations?.find(isDeclaration);
  if (found === undefined) throw new Error(`tools/docs/library.ts cannot show ${symbol.name}`);
  return found;
}

const isDeclaration = (node: ts.Node): node is Declaration =>
  ts.isFunctionDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node);

/** Types of ours that the exported ones name and that are not exported themselves. */
function furtherTypes({ checker, exports }: Library): Declaration[] {
  const found = new Set<Declaration>(exports);
  const visit = (node: ts.Node): void => {
    if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
      const name = ts.isTypeReferenceNode(node) ? node.typeName : node.expression;
      const symbol = checker.getSymbolAtLocation(name);
      const target =
        symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol;
      const declaration = target?.declarations?.find(isDeclaration);
      if (declaration !== undefined && isOurs(declaration) && !found.has(declaration)) add(declaration);
    }
    ts.forEachChild(node, visit);
  };
  const add = (declaration: Declaration): void => {
    found.add(declaration);
    if (nameOf(declaration) in ELSEWHERE) return;
    // What a function does inside is nothing to its callers.
    if (ts.isFunctionDeclaration(declaration))
      [...declaration.parameters, declaration.type].forEach((it) => it && visit(it));
    else visit(declaration);
  };
  for (const declaration of exports) add(declaration);
  return [...found].slice(exports.length).sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
}

const isOurs = (declaration: Declaration): boolean => declaration.getSourceFile().fileName.startsWith(`${ROOT}src/`);

const nameOf = (declaration: Declaration): string => declaration.name?.text ?? '';

function sectionOf(library: Library, declaration: Declaration): string {
  const name = nameOf(declaration);
  const elsewhere = ELSEWHERE[name];
  const text = elsewhere ?? commentOf(declaration);
  return [
    `### ${name}`,
    ...(text === '' ? [] : [text]),
    ...(elsewhere === undefined ? [block('ts', shownText(library, declaration))] : []),
  ].join('\n\n');
}

function shownText({ checker, emitted }: Library, declaration: Declaration): string {
  const name = nameOf(declaration);
  if (ts.isTypeAliasDeclaration(declaration) && /\btypeof\b/.test(declaration.type.getText())) {
    return `type ${name} = ${spelledOut(checker, declaration.type)};`;
  }
  const same = (it: ts.Statement): it is Declaration => isDeclaration(it) && nameOf(it) === name;
  const statement = emitted(declaration.getSourceFile()).statements.find(same);
  if (statement === undefined) throw new Error(`no declaration was emitted for ${name}`);
  const text = statement
    .getText()
    .replace(/^export /, '')
    .replace(/^declare /, '');
  return constantsIn(declaration).reduce(
    (shown, it) => shown.replaceAll(it.getText(), checker.typeToString(checker.getTypeAtLocation(it))),
    text,
  );
}

/** A type that is made from a constant; the members of a list in their order. */
function spelledOut(checker: ts.TypeChecker, node: ts.TypeNode): string {
  const list = ts.isIndexedAccessTypeNode(node) ? checker.getTypeFromTypeNode(node.objectType) : null;
  if (list !== null && checker.isTupleType(list)) {
    return checker
      .getTypeArguments(list as ts.TypeReference)
      .map((it) => checker.typeToString(it))
      .join(' | ');
  }
  const flags = ts.TypeFormatFlags.InTypeAlias | ts.TypeFormatFlags.NoTruncation;
  return checker.typeToString(checker.getTypeFromTypeNode(node), undefined, flags);
}

/** `typeof NAME`, of which a reader sees only the name. */
function constantsIn(node: ts.Node): ts.TypeQueryNode[] {
  const found: ts.TypeQueryNode[] = [];
  const visit = (it: ts.Node): void => {
    if (ts.isTypeQueryNode(it)) found.push(it);
    else if (!ts.isBlock(it)) ts.forEachChild(it, visit);
  };
  visit(node);
  return found;
}

/** The comment above a declaration, with its tags in words. */
function commentOf(declaration: Declaration): string {
  const [comment] = ts.getJSDocCommentsAndTags(declaration);
  const text = comment
    ?.getText()
    .replace(/^\/\*\*|\*\/$/g, '')
    .replaceAll(/\n\s*\* ?/g, '\n');
  return (text ?? '')
    .split(/(?=@(?:throws|returns|param)\b)/)
    .map((part) =>
      part
        .trim()
        .replace(/^@throws/, 'Throws')
        .replace(/^@returns/, 'Returns')
        .replace(/^@param (\w+)/, (_, parameter: string) => `${code(parameter)}:`),
    )
    .filter((part) => part !== '')
    .map((part) => (/[.!?:]$/.test(part) ? part : `${part}.`))
    .join('\n\n');
}
