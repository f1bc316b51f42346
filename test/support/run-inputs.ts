/** Inputs of runs, good and bad, generated from their JSON Schema: a new field needs nothing here. */
import fc from 'fast-check';

export interface Node {
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  properties?: Record<string, Node>;
  enum?: string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
}
export type Fields = Record<string, unknown>;

/**
 * JSON Schema counts characters, a run's input is counted in UTF-16 units, and the two can't be reconciled in a schema:
 * texts on which they differ are left out. ajv, in turn, doesn't see "__proto__" twice in a list.
 */
export const isCountedAlike = (text: string) => text.length > 200 === [...text].length > 200;
const isFair = (text: string) => isCountedAlike(text) && text !== '__proto__';

const goodId = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 200 }),
    fc.constantFrom('a'.repeat(200), 'ä', '...', ' ', '%', '/', '😀'),
  )
  .filter((id) => id !== '.' && id !== '..' && id.length <= 200 && isFair(id));
const badId = fc.constantFrom<unknown[]>(
  ...['', '.', '..', 'a\n', '\u0000', '\u001f', 'a\u007f', '\u0080', 'a\u009fb', '\ud800', 'a\udc00', 'a'.repeat(201)],
  ...[null, 1, true, ['a'], {}],
);
const anyId = fc.string({ unit: 'binary', maxLength: 210 }).filter(isFair);

const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 100 });
const goodMeta = fc.dictionary(name, fc.string({ unit: 'binary' }), { maxKeys: 5 });
const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, 'v']));
const badMeta = fc.constantFrom<unknown[]>(
  ...[{ '': 'v' }, { ['n'.repeat(201)]: 'v' }, { n: 1 }, { n: null }, { n: {} }, entries(51), [], ['v'], null, 'v', 1],
);

const goodSites = fc.uniqueArray(goodId, { maxLength: 5 });
const sites = (count: number) => Array.from({ length: count }, (_, index) => `a${index}`);
const badSites = fc.oneof(
  fc.constantFrom<unknown[]>(sites(1_001), null, 'a', {}, 1, ['a', ['a']]),
  fc.tuple(goodSites, badId).map(([good, bad]) => [...good, bad]),
  goodSites.filter((good) => good.length > 0).map((good) => [...good, good[0]]),
);

/** What a node allows. */
export function good(node: Node): fc.Arbitrary<unknown> {
  const { minimum: min = 0, maximum: max = 0 } = node;
  if (node.enum !== undefined) return fc.constantFrom(...node.enum);
  if (node.type === 'integer') return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max));
  if (node.type === 'boolean') return fc.boolean();
  if (node.type === 'array') return fc.oneof({ arbitrary: goodSites, weight: 50 }, fc.constant(sites(1_000)));
  if (node.type === 'string') return node.pattern === undefined ? fc.string({ unit: 'binary' }) : goodId;
  return node.properties === undefined
    ? fc.oneof(goodMeta, fc.constant(entries(50)))
    : fields(node.properties, good).filter(hasAim);
}

/** What it doesn't allow: wrong in one place. */
export function bad(node: Node): fc.Arbitrary<unknown> {
  const { minimum: min = 0, maximum: max = 0 } = node;
  if (node.enum !== undefined) return fc.constantFrom('', 'hope', `${node.enum[0]} `, 0, null, [...node.enum], true);
  if (node.type === 'integer') {
    return fc.constantFrom<unknown[]>(min - 1, max + 1, min + 0.5, 1e300, -min - 1, `${min}`, null, true, [min], {});
  }
  if (node.type === 'boolean') return fc.constantFrom<unknown[]>('true', 0, 1, null, [], {});
  if (node.type === 'array') return badSites;
  if (node.type === 'string') return node.pattern === undefined ? fc.constantFrom<unknown[]>(null, 1, [], {}) : badId;
  return node.properties === undefined ? badMeta : badFields(node, node.properties);
}

/** Anything, so that both come up. */
export function mixed(node: Node): fc.Arbitrary<unknown> {
  const whole = node.properties === undefined ? good(node) : fields(node.properties, mixed);
  const odd = fc.oneof(fc.jsonValue(), anyId, fc.array(anyId), fc.integer({ min: -1, max: 100_000 }));
  return fc.oneof({ arbitrary: whole, weight: 40 }, { arbitrary: bad(node), weight: 1 }, { arbitrary: odd, weight: 1 });
}

/** Neither a server nor a site is nothing to do. */
const hasAim = ({ serverId, siteIds }: Fields) =>
  serverId !== undefined || !Array.isArray(siteIds) || siteIds.length > 0;

function fields(properties: Record<string, Node>, value: (node: Node) => fc.Arbitrary<unknown>): fc.Arbitrary<Fields> {
  const values = Object.fromEntries(Object.entries(properties).map(([field, node]) => [field, value(node)]));
  return fc.record(values, { requiredKeys: 'siteIds' in values ? ['siteIds'] : [] });
}

function badFields(node: Node, properties: Record<string, Node>): fc.Arbitrary<unknown> {
  const unknown = fc.string().filter((field) => !(field in properties));
  const strange = fc.tuple(good(node), unknown, fc.jsonValue());
  const spoilt = Object.entries(properties).map(([field, child]) =>
    fc.tuple(good(node), bad(child)).map(([whole, value]) => ({ ...(whole as Fields), [field]: value })),
  );
  return fc.oneof(
    fc.constantFrom<unknown[]>(null, [], 'text', 1, true),
    strange.map(([whole, field, value]) => ({ ...(whole as Fields), [field]: value })),
    ...spoilt,
  );
}

/** The path of every number with its limits. */
export function numbersOf({ properties = {} }: Node, path: string[] = []): [string[], min: number, max: number][] {
  return Object.entries(properties).flatMap(([field, node]) =>
    node.type === 'integer' ? [[[...path, field], node.minimum!, node.maximum!]] : numbersOf(node, [...path, field]),
  );
}

/** `{ deploy: { tries: 1 } }` for the path `deploy`, `tries`. */
export function at(path: string[], value: unknown): Fields {
  return path.reduceRight((inner, field) => ({ [field]: inner }), value) as Fields;
}
