/** Rules for every document: links and paths exist, one page per question, a short architecture. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { configurationSchema } from '../../src/config/file/file-schema.ts';
import { ROOT } from '../support/readme.ts';

const DOCUMENTS = [
  ...readdirSync(new URL('docs', ROOT), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
  ...readdirSync(ROOT),
].filter((name) => name.endsWith('.md') && !name.includes('node_modules'));

const textOf = (document: string) => readFileSync(new URL(document, ROOT), 'utf8');

/** Links to files, except those in code blocks. */
function linksIn(document: string): string[] {
  const prose = textOf(document).replace(/^ *```[^]*?^ *```$/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^https?:/.test(link));
}

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\d _-]/gu, '')
    .replaceAll(' ', '-');

function anchorsIn(document: URL): string[] {
  return [...readFileSync(document, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

function isBroken(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? new URL(document, ROOT) : new URL(path, new URL(document, ROOT));
  return !existsSync(target) || (anchor !== undefined && !anchorsIn(target).includes(anchor));
}

test('every link in a document leads to an existing file and heading', () => {
  const broken = DOCUMENTS.flatMap((document) =>
    linksIn(document)
      .filter((link) => isBroken(document, link))
      .map((link) => `${document}: ${link}`),
  );
  assert.deepEqual(broken, []);
});

test('every path of the repository that a document names exists', () => {
  const missing = DOCUMENTS.flatMap((document) => {
    const text = textOf(document);
    // A recipe writes files of its own: the name of each is a line before what is in it.
    const written = [...text.matchAll(/^`(.+)`:$/gm)].map(([, path = '']) => path);
    return [...text.matchAll(/`((?:src|test|tools|deploy|bench|docs)\/[\w./-]*)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !written.includes(path) && !existsSync(new URL(path, ROOT)))
      .map((path) => `${document}: ${path}`);
  });
  assert.deepEqual(missing, []);
});

test('every participant of the sequence diagram that is a path exists', () => {
  const text = textOf('docs/explanation/architecture.md');
  const paths = [...text.matchAll(/^ +participant \w+ as (\S+\/\S+)$/gm)].map(([, path = '']) => path);
  assert.ok(paths.length >= 4);
  assert.deepEqual(
    paths.filter((path) => !existsSync(new URL(`src/${path}`, ROOT))),
    [],
  );
});

test('the architecture page has at most 150 lines', () => {
  assert.ok(textOf('docs/explanation/architecture.md').split('\n').length <= 151);
});

test('the index lists every document, and the list of decisions lists every record', () => {
  const listed = new Set(
    ['docs/README.md', 'docs/explanation/decisions/README.md'].flatMap((index) =>
      linksIn(index).map((link) => new URL(link, new URL(index, ROOT)).href),
    ),
  );
  const left = DOCUMENTS.filter((name) => name.startsWith('docs/') && name !== 'docs/README.md');
  assert.deepEqual(
    left.filter((name) => !listed.has(new URL(name, ROOT).href)),
    [],
  );
});

const KEYS = Object.keys(configurationSchema.shape);

/** Blocks of YAML that are parts of a belay.yaml. */
function configurationsIn(document: string): unknown[] {
  const blocks = [...textOf(document).matchAll(/^```yaml\n([^]*?)^```$/gm)].map(
    ([, yaml = '']) => parse(yaml) as unknown,
  );
  return blocks.filter((block) => Object.keys(block ?? {}).every((key) => KEYS.includes(key)));
}

test('every belay.yaml in a document is accepted', () => {
  const read = DOCUMENTS.flatMap((document) => configurationsIn(document).map((block) => ({ document, block })));
  assert.ok(read.length >= 12, `${read.length} are found`);
  for (const { document, block } of read) {
    const { error } = configurationSchema.safeParse(block);
    assert.equal(error, undefined, `${document}: ${error?.message}`);
  }
});
