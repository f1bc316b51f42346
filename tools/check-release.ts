/**
 * `tsx tools/check-release.ts [--tag v1.2.3] [--source https://…]`: checks that a release may be published. The tag, the
 * package, the lock file, the changelog and `belay --version` must have one version, and npm accepts a provenance
 * only if `repository` names the source. Prints one line per problem. It needs dist/.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** `## 1.2.3 - 2027-01-31`, with or without brackets around the version. */
const HEADING = /^## \[?([^\]\s]+)\]?(?: [-–] (\d{4}-\d{2}-\d{2}))?$/m;
const EMPTY_SECTION = /^## \[?Unreleased\]?\n+(?=## )/m;

interface Manifest {
  version: string;
  private?: boolean;
  repository?: string | { type?: string; url?: string };
  bugs?: string | { url?: string };
}

/** What a release consists of. */
export interface Release {
  tag?: string | undefined;
  /** The URL of the repository that publishes. */
  source?: string | undefined;
  manifest: Manifest;
  lock: { version: string };
  changelog: string;
  /** What `belay --version` prints. */
  printed: string;
}

/** @returns one line per problem */
export function releaseProblems({ tag, source, manifest, lock, changelog, printed }: Release): string[] {
  const { version, private: isPrivate } = manifest;
  const [, heading = 'missing', date] = HEADING.exec(changelog.replace(EMPTY_SECTION, '')) ?? [];
  const versions = {
    'the tag': tag?.replace(/^v/, '') ?? version,
    'package-lock.json': lock.version,
    'the first heading of CHANGELOG.md': heading,
    '`belay --version`': printed,
  };
  return [
    ...(isPrivate === true ? ['package.json: "private" forbids to publish: remove it'] : []),
    ...repositoryProblems(manifest, source),
    ...(urlOf(manifest.bugs) === undefined
      ? ['package.json: "bugs" is missing: set it to the URL where users report problems']
      : []),
    ...(tag === undefined || tag.startsWith('v') ? [] : [`the tag is ${tag}: name it v${version}`]),
    ...Object.entries(versions)
      .filter(([, it]) => it !== version)
      .map(([name, it]) => `${name} is ${it}, but package.json has ${version}: give both the same version`),
    ...(heading === version && date === undefined
      ? [`CHANGELOG.md: ${version} has no date: write "## ${version} - YYYY-MM-DD"`]
      : []),
  ];
}

function repositoryProblems({ repository }: Manifest, source: string | undefined): string[] {
  const url = urlOf(repository);
  if (url === undefined)
    return ['package.json: "repository" is missing: set it to the URL of the repository that publishes'];
  if (source === undefined || plainUrl(url) === plainUrl(source)) return [];
  return [`package.json: "repository" is ${url}, but this is ${source}: npm would reject the provenance`];
}

const urlOf = (field: string | { url?: string } | undefined): string | undefined =>
  (typeof field === 'string' ? field : field?.url) || undefined;

const plainUrl = (url: string): string => url.replace(/^git\+/, '').replace(/\.git$/, '');

function main(): void {
  const options = { tag: { type: 'string' }, source: { type: 'string' } } as const;
  const { tag, source } = parseArgs({ options }).values;
  const root = new URL('../', import.meta.url);
  const read = (name: string) => readFileSync(new URL(name, root), 'utf8');
  const cli = fileURLToPath(new URL('dist/cli.js', root));
  const problems = releaseProblems({
    tag,
    source,
    manifest: JSON.parse(read('package.json')) as Manifest,
    lock: JSON.parse(read('package-lock.json')) as Release['lock'],
    changelog: read('CHANGELOG.md'),
    printed: execFileSync(process.execPath, [cli, '--version'], { encoding: 'utf8' }).trim(),
  });
  for (const problem of problems) process.stderr.write(`not ready to publish: ${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
