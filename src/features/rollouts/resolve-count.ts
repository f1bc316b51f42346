/** Rounds down: 3% of 10 servers is 0. @param value a number, or a percentage like `3%` */
export function resolveCount(value: number | string, servers: number): number {
  return typeof value === 'number'
    ? value
    : Math.floor(Number(((Number.parseFloat(value) * servers) / 100).toFixed(6)));
}
