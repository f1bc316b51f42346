/** The environment of a process whose wall clock is ahead of that of all others. Its monotonic clock is right. */
export function clockAhead(ms: number): Record<string, string> {
  if (ms === 0) return {};
  const code = `const Real = Date;
globalThis.Date = class Date extends Real {
  constructor(...given) { given.length === 0 ? super(Real.now() + ${ms}) : super(...given); }
  static now() { return Real.now() + ${ms}; }
};`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}
