/** Bundles the library and the commands that only talk to Temporal, with all that they import. */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { DIST, ROOT } from '../dist-stamp.ts';

/** Modules that need the worker's dependencies, and which command each of their functions is. */
const ELSEWHERE: Record<string, Record<string, string>> = {
  worker: { runWorker: 'worker' },
  webhooks: { runWebhooks: 'webhooks' },
  board: { runBoard: 'board' },
  'codec-server': { runCodecServer: 'codec-server' },
  sandbox: { runSandbox: 'sandbox' },
  'cli/dev-actions': { dev: 'dev', demo: 'demo' },
};
const HEAVY = /node_modules\/(?:@temporalio\/(?:core-bridge|testing|worker)|fastify|pino|prom-client)\//;

/**
 * @param programs files of dist/, each of which becomes a file of the folder
 * @param oneFile a program is one file
 * @returns the modules inside, from the root of the repository
 */
export async function bundle(
  programs: string[],
  { folder, oneFile }: { folder: string; oneFile: boolean },
): Promise<string[]> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: programs.map((name) => join(DIST, name)),
    outdir: folder,
    bundle: true,
    splitting: !oneFile,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    minify: true,
    // They are in THIRD-PARTY-NOTICES.
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    banner: { js: COMMONJS },
    plugins: [commandsElsewhere, versionOf(version), ownCommand, onlyFailureConverter],
  });
  const modules = Object.keys(metafile.inputs);
  const heavy = modules.find((name) => HEAVY.test(name));
  if (heavy !== undefined) {
    const [importer] =
      Object.entries(metafile.inputs).find(([, { imports }]) => imports.some((it) => it.path === heavy)) ?? [];
    throw new Error(
      `belay-cli would contain ${heavy}, for ${importer}: leave that command out in ${import.meta.filename}`,
    );
  }
  return modules;
}

/** Modules inside that are not written for ESM use these. */
const COMMONJS = [
  "import{createRequire as belayRequire}from'node:module'",
  "import{fileURLToPath as belayPath}from'node:url'",
  "import{dirname as belayFolder}from'node:path'",
  'const require=belayRequire(import.meta.url),__filename=belayPath(import.meta.url),__dirname=belayFolder(__filename);',
].join(';');

const commandsElsewhere: Plugin = {
  name: 'commands of belay-deploy',
  setup(its) {
    its.onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, ({ kind, path, resolveDir }) => {
      const name = relative(DIST, join(resolveDir, path)).replace(/\.js$/, '');
      const isOne = kind === 'dynamic-import' && name in ELSEWHERE;
      return isOne ? { path: name, namespace: 'elsewhere' } : null;
    });
    its.onLoad({ filter: /^/, namespace: 'elsewhere' }, ({ path }) => ({
      resolveDir: DIST,
      contents: `
        import { BelayError } from './contract/errors.js';
        const refuse = (name) => () => {
          throw new BelayError('Usage', 'belay-cli has no \`' + name + '\`, which needs more than Temporal: install belay-deploy, and run \`npx belay-deploy ' + name + '\`');
        };
        ${Object.entries(ELSEWHERE[path]!)
          .map(([action, name]) => `export const ${action} = refuse('${name}');`)
          .join('\n')}`,
    }));
  },
};

/** There is no package.json where the module looks for it. */
const versionOf = (version: string): Plugin => ({
  name: 'version',
  setup: (its) =>
    its.onLoad({ filter: /\/dist\/process\/version\.js$/ }, () => ({
      contents: `export const VERSION = '${version}';`,
    })),
});

/** Messages name this package's commands, and the help says which it lacks. */
const ownCommand: Plugin = {
  name: 'own command',
  setup(its) {
    const replace = (filter: RegExp, from: string, to: string) =>
      its.onLoad({ filter }, async ({ path }) => ({
        contents: replaceOnce(path, await readFile(path, 'utf8'), from, to),
      }));
    replace(/\/dist\/process\/own-command\.js$/, "OWN = 'npx belay-deploy'", "OWN = 'npx belay-cli'");
    replace(/\/dist\/cli\/program\.js$/, "'Programs:'", "'Only in belay-deploy:'");
  },
};

/** The SDK loads a converter by its path: there is one, and it has to be inside. */
const onlyFailureConverter: Plugin = {
  name: 'failure converter',
  setup: (its) =>
    its.onLoad({ filter: /\/data-converter-helpers\.js$/ }, async ({ path }) => {
      const ours = `require(${JSON.stringify(join(DIST, 'encryption/failure-converter.js'))})`;
      return { contents: replaceOnce(path, await readFile(path, 'utf8'), 'require(path)', ours), loader: 'js' };
    }),
};

function replaceOnce(file: string, text: string, from: string, to: string): string {
  if (text.split(from).length !== 2) throw new Error(`${file} does not have ${from} once: see ${import.meta.filename}`);
  return text.replace(from, () => to);
}
