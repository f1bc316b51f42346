/** The ESLint rule behind tools/layers.js: checks every import in `src`, `import()` and `export … from` included. */
import { readdirSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LAYERS } from './layers.js';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** The folders that need a row: those that hold files. */
export function layersOnDisk() {
  const files = readdirSync(SRC, { recursive: true, withFileTypes: true }).filter((it) => it.isFile());
  const folders = files.map((it) => relative(SRC, it.parentPath).split(sep).join('/'));
  return [...new Set(folders)].filter((it) => it !== '').sort();
}

/** The folder of a file; the name of a file at the top of `src`; null outside. */
function layerOf(path) {
  const parts = relative(SRC, path).split(sep);
  if (parts[0] === '..') return null;
  return parts.length === 1 ? parts[0] : parts.slice(0, -1).join('/');
}

const packageOf = (name) =>
  name.startsWith('node:') ? 'node' : name.split('/', name.startsWith('@') ? 2 : 1).join('/');

const isAllowed = (list, name, kind) => list.includes(name) || list.includes(`${name}:${kind}`);

/** @param kind value, type or dynamic @returns what is wrong with an import, or null */
function problemOf(file, imported, kind) {
  const from = layerOf(file);
  const isProgram = !from.includes('/') && from.endsWith('.ts');
  const row = LAYERS[from];
  if (!imported.startsWith('.')) {
    if (isProgram || row === undefined || isAllowed(row.packages, packageOf(imported), kind)) return null;
    return `src/${from} may import only these packages: ${row.packages.join(', ') || 'none'}.`;
  }
  const to = layerOf(resolve(dirname(file), imported));
  if (to === from) return null;
  if (isProgram) return to in LAYERS ? null : 'A file at the top of src may import layers only.';
  if (row === undefined || isAllowed(row.may, to, kind)) return null;
  return `src/${from} may import only these layers: ${row.may.join(', ') || 'none'}.`;
}

const SEE = 'See tools/layers.js.';

const imports = {
  meta: { type: 'problem', schema: [] },
  create(context) {
    const from = layerOf(context.filename);
    if (from === null) return {};
    const check = (node, source, kind) => {
      if (typeof source?.value !== 'string') {
        context.report({ node, message: `Import a literal path, so that lint can check it. ${SEE}` });
        return;
      }
      const problem = problemOf(context.filename, source.value, kind);
      if (problem !== null) context.report({ node, message: `${problem} ${SEE}` });
    };
    const fromOf = (node) => {
      if (node.source !== null)
        check(node, node.source, (node.importKind ?? node.exportKind) === 'type' ? 'type' : 'value');
    };
    return {
      Program(node) {
        if (from.includes('/') || !from.endsWith('.ts')) {
          if (!(from in LAYERS)) context.report({ node, message: `src/${from} has no row. ${SEE}` });
        }
      },
      ImportDeclaration: fromOf,
      ExportNamedDeclaration: fromOf,
      ExportAllDeclaration: fromOf,
      ImportExpression: (node) => check(node, node.source, 'dynamic'),
      TSImportType: (node) => check(node, node.source ?? node.argument.literal, 'type'),
      'MemberExpression[object.name="process"][property.name="env"]'(node) {
        if (LAYERS[from]?.env !== true)
          context.report({ node, message: `src/config/environment reads the environment. ${SEE}` });
      },
    };
  },
};

/** The part of eslint.config.js that keeps the layers apart. */
export const layers = {
  files: ['src/**/*.ts'],
  plugins: { layers: { rules: { imports } } },
  rules: { 'layers/imports': 'error' },
};
