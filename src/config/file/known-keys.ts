/** Which keys the schema of belay.yaml knows at a place. */
import type { z } from 'zod';

/** @param path of the map, as in an issue of zod. @returns nothing below a map whose keys are names, such as ids */
export function knownKeys(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const [first, ...rest] = path;
  switch (def.type) {
    case 'object': {
      if (first === undefined) return Object.keys(def.shape);
      const below = def.shape[String(first)];
      return below === undefined ? [] : knownKeys(below, rest);
    }
    case 'record':
      return first === undefined ? [] : knownKeys(def.valueType, rest);
    case 'array':
      return first === undefined ? [] : knownKeys(def.element, rest);
    case 'union':
      return def.options.flatMap((it) => knownKeys(it, path));
    case 'pipe':
      return [def.in, def.out].flatMap((it) => knownKeys(it, path));
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
      return knownKeys(def.innerType, path);
    default:
      return [];
  }
}
