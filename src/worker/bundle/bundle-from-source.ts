/**
 * Bundles the workflows from source, once for each state of it. All processes of `npm run dev` and the tests share the
 * bundle.
 */
import { randomUUID, createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { succeeds } from '../../contract/plain-object.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Everything that a workflow may import, including the packages, and the code that bundles it. */
export const BUNDLED = [
  'src/workflows',
  'src/rules',
  'src/contract',
  'src/features',
  'src/request',
  'src/worker/bundle',
  'package-lock.json',
];
const CACHE = join(ROOT, 'node_modules/.cache/belay');
const KEPT_MS = 24 * 3_600_000;

type BundleOptions = Parameters<typeof bundleWorkflowCode>[0];
type WebpackConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/** Two source files, by absolute path. The second replaces the first, and may itself import it. */
export interface Replacement {
  from: string;
  to: string;
}

/** @returns the path of the bundle */
export async function bundleFromSource(replacements: readonly Replacement[] = []): Promise<string> {
  const sources = [...BUNDLED, ...replacements.map(({ to }) => relative(ROOT, to))];
  for (;;) {
    const hash = sourceHash(ROOT, sources);
    const path = join(CACHE, `workflows-${hash}.js`);
    const now = new Date();
    if (await succeeds(utimes(path, now, now))) return path;
    const { code } = await bundleWorkflowCode({
      ...bundleOptions(join(ROOT, 'src/workflows'), 'ts'),
      webpackConfigHook: (config) => withReplacements(config, replacements),
    });
    // A file that was saved meanwhile may be in this bundle, which then belongs to neither state.
    if (sourceHash(ROOT, sources) !== hash) continue;
    await store(path, code);
    await removeOld();
    return path;
  }
}

function withReplacements(config: WebpackConfig, replacements: readonly Replacement[]): WebpackConfig {
  const plugin: NonNullable<WebpackConfig['plugins']>[number] = {
    apply: ({ hooks }) =>
      hooks.normalModuleFactory.tap('replacements', (factory) =>
        factory.hooks.beforeResolve.tap('replacements', (data) => {
          const path = resolve(data.context, data.request);
          const found = replacements.find(({ from, to }) => from === path && to !== data.contextInfo.issuer);
          if (found !== undefined) data.request = found.to;
        }),
      ),
  };
  return { ...config, plugins: [...(config.plugins ?? []), plugin] };
}

/** Several processes may write the same file. Renaming keeps readers from seeing half of it. */
async function store(path: string, code: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, code);
  await rename(draft, path);
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const path = join(CACHE, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
    if (name.startsWith('workflows-') && Date.now() - mtimeMs > KEPT_MS) await rm(path, { force: true });
  }
}

/* Makes a fingerprint of source files. What is built from them is current while the fingerprint stays the same. */

/** @param paths files and folders below `root`; a path that does not exist changes the hash, too */
export function sourceHash(root: string, paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) {
    const files = filesBelow(join(root, path));
    hash.update(`${path}\n${files.length}\n`);
    for (const file of files) {
      const content = readFileSync(join(root, path, file));
      hash.update(`${file}\n${content.length}\n`).update(content);
    }
  }
  return hash.digest('hex');
}

function filesBelow(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [''];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .sort();
}

/**
 * What the bundles of the build and of the current source have in common.
 *
 * @public tools/bundle-workflows.js calls it
 * @param folder of the workflows
 */
export const bundleOptions = (folder: string, ending: 'ts' | 'js'): Parameters<typeof bundleWorkflowCode>[0] => ({
  workflowsPath: join(folder, `index.${ending}`),
  preloadModules: ['without-stack-traces', 'index'].map((name) => join(folder, `${name}.${ending}`)),
  workflowInterceptorModules: [join(folder, `untimely-queries.${ending}`)],
  failureConverterPath: join(folder, `../worker/bundle/failure-converter.${ending}`),
  logger: new DefaultLogger('WARN'),
});
