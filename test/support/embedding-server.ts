import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request for vectors, as it came. */
export interface EmbeddingRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
  readonly texts: readonly string[];
}

/** A server that speaks text-embeddings-inference and the embeddings API, with vectors that are the same every time. */
export interface EmbeddingServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly EmbeddingRequest[];
  /** What `GET /info` says, how long vectors are, and texts that it knows to mean the same; change it to play another model. */
  model: { id: string; dimensions: number; maxBatch?: number; alike?: readonly (readonly string[])[] };
  /** Answers instead of the server, when it returns `true`. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
}

/** Starts one, on a given port where a test wants it back at its old place. */
export async function embeddingServer(port = 0): Promise<EmbeddingServer> {
  const requests: EmbeddingRequest[] = [];
  const http = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (server.misbehave?.(request, response)) return;
    const reply = (value: unknown) =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    const path = request.url ?? '';
    if (path === '/info') {
      const { id, maxBatch } = server.model;
      return reply({ model_id: id, ...(maxBatch === undefined ? {} : { max_client_batch_size: maxBatch }) });
    }
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
    const texts = (body.inputs ?? body.input) as string[];
    requests.push({ path, headers: request.headers, body, texts });
    const vectors = texts.map((text) => vectorOf(spokenFor(text, server.model.alike), server.model.dimensions));
    if (path === '/embed') return reply(vectors);
    // last first: the order of the answer means nothing, `index` does
    reply({
      object: 'list',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).reverse(),
    });
  };
  await once(http.listen(port, '127.0.0.1'), 'listening');
  const address = http.address() as AddressInfo;
  const server: EmbeddingServer = {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    requests,
    model: { id: 'test-model', dimensions: 64 },
    misbehave: undefined,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      if (http.listening) await new Promise((done) => http.close(done));
    },
  };
  return server;
}

/** A text in Latin letters, the same for all that mean the same; other letters this model cannot read. */
function spokenFor(text: string, alike: readonly (readonly string[])[] = []): string {
  const known = alike.findIndex((texts) => texts.includes(text));
  return known < 0 ? text : `meaning number ${'i'.repeat(known + 1)}`;
}

/** Words that mean the same, so that a search by meaning finds what no word of it says. */
const SAME = [
  ['letter', 'mail', 'correspondence', 'post'],
  ['remove', 'delete', 'erase', 'dispose'],
  ['chart', 'diagram', 'plot', 'visualisation'],
  ['money', 'invoice', 'bill', 'payment'],
];

/** A vector of what the words of a text mean: each has a place of its own, words that mean the same share one. */
export function vectorOf(text: string, dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, (): number => 0);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    const meaning = SAME.findIndex((words) => words.includes(word.replace(/s$/, '')));
    const place =
      meaning >= 0
        ? meaning
        : SAME.length + (Number.parseInt(hash('sha256', word).slice(0, 8), 16) % (dimensions - SAME.length));
    vector[place] = (vector[place] ?? 0) + (meaning >= 0 ? 4 : 0.5);
  }
  if (!vector.some((value) => value !== 0)) vector[dimensions - 1] = 1;
  return vector.map((value) => value * 3); // not of length one: making it so is the client's part
}
