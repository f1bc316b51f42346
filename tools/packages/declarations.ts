/** Rolls the types of the library up into one file, for those who load it with `require` and for belay-cli. */
import { join } from 'node:path';
import { rollup, type Plugin } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import ts from 'typescript';
import { DIST } from '../dist-stamp.ts';

const CONFIGURATION = join(DIST, 'config/file/file-schema.d.ts');

const IMPORT = "import { Connection } from '@temporalio/client';\n";

/** In place of the SDK's class, whose types would bring all of its protocol along. */
const CONNECTION = `/** A Connection of @temporalio/client. */
interface Connection {
  readonly workflowService: object;
  readonly operatorService: object;
  ensureConnected(): Promise<void>;
  close(): Promise<void>;
}
`;

export async function declarations(): Promise<{ full: string; standalone: string }> {
  const ofOurs: Plugin = {
    name: 'only types of ours',
    resolveId: (id) => (/^[./]/.test(id) ? null : { id, external: true }),
    load: (id) => (id === CONFIGURATION ? configurationWithoutZod() : null),
  };
  const types = await rollup({ input: join(DIST, 'starter.d.ts'), plugins: [ofOurs, dts()] });
  const { code, imports } = (await types.generate({ format: 'es' })).output[0];
  if (imports.join(' ') !== '@temporalio/client' || !code.startsWith(IMPORT))
    throw new Error(`the types of the library import ${imports.join(', ')}: see ${import.meta.filename}`);
  return { full: code, standalone: code.replace(IMPORT, CONNECTION) };
}

/** What the compiler infers from the schema of belay.yaml. */
function configurationWithoutZod(): string {
  const { NodeNext } = ts.ModuleKind;
  const program = ts.createProgram([CONFIGURATION], {
    module: NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(CONFIGURATION)!;
  const symbol = checker
    .getExportsOfModule(checker.getSymbolAtLocation(source)!)
    .find(({ name }) => name === 'Configuration')!;
  const { NoTruncation, InTypeAlias, MultilineObjectLiterals } = ts.TypeFormatFlags;
  const format = NoTruncation | InTypeAlias | MultilineObjectLiterals;
  return `export type Configuration = ${checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), source, format)};`;
}
