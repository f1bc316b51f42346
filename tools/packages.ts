/**
 * `npm run packages`: writes what a release publishes into packages/, the same bytes each time: the tarballs of
 * belay-deploy and belay-cli, and the commands of belay-cli as one file, for CI.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.ts';
import { DIST, ROOT } from './dist-stamp.ts';
import { bundle } from './packages/bundle.ts';
import { billOfMaterials, notices, partsOf } from './packages/contents.ts';
import { declarations } from './packages/declarations.ts';

const PACKAGES = join(ROOT, 'packages');
const SCHEMAS = ['belay', 'rollout-result', 'run-input', 'run-result'].map((name) => `docs/${name}.schema.json`);
/** For Node with require: the same module, so that there is one class for each error. */
const COMMONJS = "module.exports = require('./starter.js');\n";

type Manifest = Record<string, unknown> & { version: string; exports: Record<string, unknown> };

/** What `npm pack` needs in dist/ beside the build. */
async function completeDist(): Promise<{ standalone: string }> {
  const { full, standalone } = await declarations();
  writeFileSync(join(DIST, 'starter.cjs'), COMMONJS);
  writeFileSync(join(DIST, 'starter.d.cts'), full);
  return { standalone };
}

/** @returns the paths of the two tarballs and of the file */
export async function writePackages(): Promise<{ cli: string; deploy: string; file: string }> {
  buildIfStale();
  const { standalone } = await completeDist();
  rmSync(PACKAGES, { recursive: true, force: true });
  mkdirSync(PACKAGES);
  const work = mkdtempSync(join(tmpdir(), 'belay-packages-'));
  try {
    const folder = join(work, 'belay-cli');
    const { version } = await stageCli(folder, standalone);
    const file = join(PACKAGES, `belay-cli-${version}.mjs`);
    await bundle(['cli.js'], { folder: join(work, 'file'), oneFile: true });
    copyFileSync(join(work, 'file/cli.js'), file);
    copyFileSync(join(folder, 'THIRD-PARTY-NOTICES'), join(PACKAGES, 'THIRD-PARTY-NOTICES'));
    return { cli: pack(folder), deploy: pack(ROOT), file };
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** @returns the path of the tarball. No scripts: dist/ is complete. */
function pack(folder: string): string {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', PACKAGES];
  const printed = execFileSync('npm', args, { cwd: folder, encoding: 'utf8' });
  const packed = JSON.parse(printed) as { filename: string }[];
  return join(PACKAGES, packed[0]!.filename);
}

async function stageCli(folder: string, declared: string): Promise<Manifest> {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  const { version, license, type, publishConfig, engines, main, types, exports, repository, bugs } = manifest;
  const modules = await bundle(['cli.js', 'starter.js'], { folder: join(folder, 'dist'), oneFile: false });
  chmodSync(join(folder, 'dist/cli.js'), 0o755);
  const parts = partsOf(modules);
  const files = {
    'package.json': json({
      ...{ name: 'belay-cli', version, license, type, publishConfig, engines, main, types, exports, repository, bugs },
      description:
        'The commands and the library of belay-deploy that only talk to Temporal, as one package without dependencies.',
      bin: { belay: 'dist/cli.js', 'belay-cli': 'dist/cli.js' },
    }),
    'README.md': readFileSync(join(ROOT, 'tools/packages/belay-cli.md'), 'utf8'),
    LICENSE: readFileSync(join(ROOT, 'LICENSE'), 'utf8'),
    'THIRD-PARTY-NOTICES': notices(parts),
    'sbom.cdx.json': json(billOfMaterials({ name: 'belay-cli', version }, parts)),
    'dist/starter.cjs': COMMONJS,
    'dist/starter.d.ts': declared,
    'dist/starter.d.cts': declared,
    ...Object.fromEntries(SCHEMAS.map((name) => [name, readFileSync(join(ROOT, name), 'utf8')])),
  };
  mkdirSync(join(folder, 'docs'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return manifest;
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === '--dist') await completeDist();
  else for (const path of Object.values(await writePackages())) process.stdout.write(`${path.slice(ROOT.length)}\n`);
}
