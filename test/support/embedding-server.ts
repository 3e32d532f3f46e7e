import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One received request for vectors. */
export interface EmbeddingRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
  readonly texts: readonly string[];
}

/** A server with the text-embeddings-inference API and the embeddings API, with deterministic vectors. */
export interface EmbeddingServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly EmbeddingRequest[];
  /** Response of `GET /info`, length of vectors, and texts with the same meaning; can be changed to act as another model. */
  model: { id: string; dimensions: number; maxBatch?: number; alike?: readonly (readonly string[])[] };
  /** Answers instead of the server if it returns `true`. */
  override: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
}

/** Starts a server, on a given port if a test restarts it at the same address. */
export async function embeddingServer(port = 0): Promise<EmbeddingServer> {
  const requests: EmbeddingRequest[] = [];
  const http = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (server.override?.(request, response)) return;
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
    const vectors = texts.map((text) => vectorOf(knownMeaning(text, server.model.alike), server.model.dimensions));
    if (path === '/embed') return reply(vectors);
    // in reverse order: clients must use `index`
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
    override: undefined,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      if (http.listening) await new Promise((done) => http.close(done));
    },
  };
  return server;
}

/** Maps texts with the same meaning to one text; removes letters other than Latin ones, which this model does not know. */
function knownMeaning(text: string, alike: readonly (readonly string[])[] = []): string {
  const known = alike.findIndex((texts) => texts.includes(text));
  return known < 0 ? text : `meaning number ${'i'.repeat(known + 1)}`;
}

/** Words with the same meaning, so that a semantic search finds texts without a common word. */
const SYNONYMS = [
  ['letter', 'mail', 'correspondence', 'post'],
  ['remove', 'delete', 'erase', 'dispose'],
  ['chart', 'diagram', 'plot', 'visualisation'],
  ['money', 'invoice', 'bill', 'payment'],
];

/** A vector with one dimension per word; words with the same meaning share one. */
export function vectorOf(text: string, dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, (): number => 0);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    const meaning = SYNONYMS.findIndex((words) => words.includes(word.replace(/s$/, '')));
    const place =
      meaning >= 0
        ? meaning
        : SYNONYMS.length + (Number.parseInt(hash('sha256', word).slice(0, 8), 16) % (dimensions - SYNONYMS.length));
    vector[place] = (vector[place] ?? 0) + (meaning >= 0 ? 4 : 0.5);
  }
  if (!vector.some((value) => value !== 0)) vector[dimensions - 1] = 1;
  return vector.map((value) => value * 3); // not normalized: the client does that
}
