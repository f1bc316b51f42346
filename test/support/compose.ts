/** docker-compose.yml, to compare it with the code and with other ways to deploy. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { ROOT } from './readme.ts';

export interface Service {
  image?: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  secrets?: string[];
  configs?: { source: string; target: string }[];
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  profiles?: string[];
  restart?: string;
  stop_grace_period?: string;
  deploy?: { replicas: string };
  mem_limit?: string;
  memswap_limit?: string;
  pids_limit?: number;
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  logging?: { driver: string; options: Record<string, string> };
}

interface Compose {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  configs: Record<string, { file: string }>;
  volumes: Record<string, unknown>;
}

export const inRepository = (path: string) => fileURLToPath(new URL(path, ROOT));
export const read = (path: string) => readFileSync(inRepository(path), 'utf8');

export const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose;
export const services = Object.entries(compose.services);
/** Those that do not end by themselves. */
export const lastingServices = services.filter(([, { restart }]) => restart !== undefined);

export function service(name: string): Service & Required<Pick<Service, 'environment'>> {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return { environment: {}, ...found };
}

/** The version of an image, without its digest. */
export const versionOf = (name: string) => service(name).image?.replace(/@.*$/, '').split(':')[1];

const UNITS = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 } as const;

/** Such as `512m`, `1Gi` or `1200MiB`. */
export function bytesOf(text: string): number {
  const [, number, unit] = /^(\d+)([kmg])(?:i?b?)$/i.exec(text) ?? [];
  if (number === undefined || unit === undefined) throw new Error(`not a size: ${text}`);
  return Number(number) * UNITS[unit.toLowerCase() as keyof typeof UNITS];
}

/** The heap limit of Node in an environment, in bytes. */
export function heapOf({ NODE_OPTIONS = '' }: Record<string, string>): number {
  const [, megabytes] = /^--max-old-space-size=(\d+)$/.exec(NODE_OPTIONS) ?? [];
  if (megabytes === undefined) throw new Error(`no heap limit: ${NODE_OPTIONS}`);
  return Number(megabytes) * UNITS.m;
}

/** Every path that a program of this folder of `src` answers with GET. */
export function routesIn(folder: string): string[] {
  const files = readdirSync(inRepository(folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...read(`${folder}/${name}`).matchAll(/\.get\('([^']+)'/g)])
    .map(([, path = '']) => path);
}
