/** A proxy for connections to the service. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { atEnd } from './at-end.ts';

interface Proxy {
  /** Its URL. */
  proxy: string;
  asked: () => string;
  close: () => Promise<void>;
}

/** A proxy that answers CONNECT with a status line, and then joins the connections or leaves them alone. */
export async function proxyThat(answer: string, join = true, host = '127.0.0.1'): Promise<Proxy> {
  let asked = '';
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      asked += data.toString();
      if (answer === '') return;
      socket.write(`HTTP/1.1 ${answer}\r\n\r\n`);
      if (!join) return;
      const [, port] = /^CONNECT \S+:(\d+)/.exec(asked) ?? [];
      const onward = connect(Number(port), '127.0.0.1');
      socket.pipe(onward).on('error', () => undefined);
      onward.pipe(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const name = host.includes(':') ? `[${host}]` : host;
  const proxy = `http://user:p%40ss@${name}:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  atEnd(close);
  return { proxy, asked: () => asked, close };
}
