/** Questions to Temporal, some at once, with answers in the order of what they are about. */
const AT_ONCE = 10;

export async function someAtOnce<T, R>(all: readonly T[], ask: (it: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let first = 0; first < all.length; first += AT_ONCE) {
    answers.push(...(await Promise.all(all.slice(first, first + AT_ONCE).map(ask))));
  }
  return answers;
}
