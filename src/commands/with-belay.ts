/** A connection for one command. */
import { connect, type Belay } from '../starter.ts';

export async function withBelay<T>(act: (belay: Belay) => Promise<T>): Promise<T> {
  const belay = await connect();
  try {
    return await act(belay);
  } finally {
    await belay.close();
  }
}
