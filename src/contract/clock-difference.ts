/** @param whose the clock to compare with, as in `Temporal's` */
export function clockDifference(whose: string, aheadMs: number): string {
  const seconds = Math.abs(aheadMs / 1000).toFixed(1);
  return `this machine's clock is ${seconds} s ${aheadMs >= 0 ? 'ahead of' : 'behind'} ${whose}`;
}
