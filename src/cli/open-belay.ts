/** Opens a connection for one command. It loads the client only then, so that wrong arguments are reported at once. */
import type { Belay, ConnectOptions } from '../starter.ts';

export async function openBelay(options?: ConnectOptions): Promise<Belay> {
  const { connect } = await import('../starter.ts');
  return connect(options);
}

export async function withBelay<T>(act: (belay: Belay) => Promise<T>, options?: ConnectOptions): Promise<T> {
  const belay = await openBelay(options);
  try {
    return await act(belay);
  } finally {
    await belay.close();
  }
}
