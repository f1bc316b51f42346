/** What is inside a bundle, for people (THIRD-PARTY-NOTICES) and for programs (CycloneDX). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../dist-stamp.ts';

export interface Part {
  name: string;
  version: string;
  /** An SPDX expression. */
  license: string;
  /** Texts that have to go with it. */
  texts: string[];
}

interface Manifest {
  name: string;
  version: string;
  license?: string;
}

/** @param modules paths from the root of the repository. @returns the packages they belong to, in order */
export function partsOf(modules: readonly string[]): Part[] {
  const folders = modules.flatMap((name) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(name)?.[1] ?? []);
  return [...new Set(folders)].sort().map(partIn);
}

function partIn(folder: string): Part {
  const read = (file: string) => readFileSync(join(ROOT, folder, file), 'utf8');
  const { name, version, license } = JSON.parse(read('package.json')) as Manifest;
  if (license === undefined) throw new Error(`${folder}/package.json names no license: may belay-cli contain it?`);
  const files = readdirSync(join(ROOT, folder)).filter((file) => /^(licence|license|copying|notice)/i.test(file));
  return { name, version, license, texts: files.sort().map((file) => read(file).trim()) };
}

export function notices(parts: readonly Part[]): string {
  const of = ({ name, version, license, texts }: Part) => [
    `${name} ${version} (${license})`,
    ...(texts.length > 0 ? texts : ['The package contains no text of its license.']),
  ];
  const line = '-'.repeat(80);
  return `This package contains code of the packages below.\n${parts.map((part) => `\n${line}\n${of(part).join('\n\n')}\n`).join('')}`;
}

/** Without a serial number and a time: two builds give the same bytes. */
export function billOfMaterials(component: { name: string; version: string }, parts: readonly Part[]): object {
  const library = ({ name, version, license }: Part) => {
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    return { type: 'library', 'bom-ref': purl, name, version, purl, licenses: [{ expression: license }] };
  };
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...component } },
    // A version can be inside twice.
    components: [...new Map(parts.map(library).map((it) => [it.purl, it])).values()],
  };
}
