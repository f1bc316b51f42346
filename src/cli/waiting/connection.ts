/** A connection for one command. What it needs is loaded only then: a mistake in the arguments is told at once. */
import type { Belay, ConnectOptions } from '../../starter.ts';

export async function openBelay(options?: ConnectOptions): Promise<Belay> {
  const { connect } = await import('../../starter.ts');
  return connect(options);
}

export async function withBelay<T>(act: (belay: Belay) => Promise<T>): Promise<T> {
  const belay = await openBelay();
  try {
    return await act(belay);
  } finally {
    await belay.close();
  }
}
