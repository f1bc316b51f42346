/** Loads another module instead of one in src. The other module can still import the original. */
const replaced = new Map();

export function initialize({ from, to }) {
  replaced.set(from, to);
}

export async function resolve(specifier, context, nextResolve) {
  const found = await nextResolve(specifier, context);
  const other = replaced.get(found.url);
  if (other === undefined || context.parentURL === other) return found;
  return nextResolve(other, context);
}
