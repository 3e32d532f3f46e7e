// Runs inside the network sidecar of a workload, with Node.js and nothing else: `node -e THIS_FILE EGRESS_PORT`.
//
// Its stdin and stdout are an HTTP/2 connection to the gateway, in which it is the client. Streams:
//   GET /control       the gateway writes lines `ID PORT`: connect to that port of the network namespace
//   POST /ingress/ID   the connection that a line asked for; the header `failed` says why there is none
//   POST /egress       a connection that a program of the container made to the proxy address
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, createServer, Socket } from 'node:net';
import { Duplex } from 'node:stream';

const LOOPBACKS = ['127.0.0.1', '::1'];
const MAX_CONNECTIONS = 256;
const MAX_LINE = 64;
const LEFT_MS = 30_000; // for the gateway to read what a closed connection has sent

const input = new Socket({ fd: 0, readable: true, writable: false });
const output = new Socket({ fd: 1, readable: false, writable: true });
const session = connectHttp2('http://gateway', {
  createConnection: () => Duplex.from({ readable: input, writable: output }),
});
const end = (): never => process.exit(0);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
input.on('close', end);
session.on('close', end);
session.on('error', end);

const egress = createServer({ allowHalfOpen: true }, (socket) => {
  join(socket, session.request({ ':method': 'POST', ':path': '/egress' }, { endStream: false }));
});
egress.maxConnections = MAX_CONNECTIONS;
egress.listen(Number(process.argv.at(-1)), '127.0.0.1', () => readControl(session));

function readControl(to: ClientHttp2Session): void {
  let text = '';
  const control = to.request({ ':method': 'GET', ':path': '/control' }, { endStream: true });
  control.setEncoding('utf8');
  control.on('data', (more: string) => {
    text += more;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n')) {
      const [id = '', port = ''] = text.slice(0, at).split(' ');
      text = text.slice(at + 1);
      openIngress(id, Number(port), 0);
    }
    if (text.length > MAX_LINE) end();
  });
  control.on('close', end);
}

/** A server may listen on either loopback address. */
function openIngress(id: string, port: number, attempt: number): void {
  const socket = connect({ host: LOOPBACKS[attempt] ?? '', port, allowHalfOpen: true, noDelay: true });
  const path = `/ingress/${id}`;
  const failed = (cause: Error): void => {
    if (attempt + 1 < LOOPBACKS.length) openIngress(id, port, attempt + 1);
    else session.request({ ':method': 'POST', ':path': path, failed: cause.message }, { endStream: true }).resume();
  };
  socket.once('error', failed);
  socket.once('connect', () => {
    socket.off('error', failed);
    join(socket, session.request({ ':method': 'POST', ':path': path }, { endStream: false }));
  });
}

function join(socket: Socket, stream: Duplex): void {
  socket.on('error', () => stream.destroy());
  stream.on('error', () => socket.destroy());
  stream.on('close', () => socket.destroySoon());
  socket.on('close', () => {
    if (!stream.writableEnded) stream.end();
    stream.resume();
    const late = setTimeout(() => stream.destroy(), LEFT_MS);
    stream.once('close', () => clearTimeout(late));
  });
  socket.pipe(stream);
  stream.pipe(socket);
}
