/** A client of the text-embeddings-inference protocol; requests each text once. */
export interface EmbedClient {
  readonly model: string;
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
}

const TIMEOUT_MS = 60_000;

/** @throws Error when the server is unreachable */
export async function embedClient(url: string): Promise<EmbedClient> {
  const info = (await (await fetch(`${url}/info`, { signal: AbortSignal.timeout(TIMEOUT_MS) })).json()) as {
    model_id: string;
    max_client_batch_size?: number;
  };
  const known = new Map<string, Float32Array>();
  const size = info.max_client_batch_size ?? 32;
  return {
    model: info.model_id,
    async embed(texts) {
      const missing = [...new Set(texts)].filter((text) => !known.has(text));
      for (let from = 0; from < missing.length; from += size) {
        const batch = missing.slice(from, from + size);
        const vectors = await embedded(url, batch);
        batch.forEach((text, at) => {
          known.set(text, Float32Array.from(vectors[at] ?? []));
        });
      }
      return texts.map((text) => known.get(text) ?? new Float32Array());
    },
  };
}

async function embedded(url: string, inputs: readonly string[]): Promise<readonly (readonly number[])[]> {
  const response = await fetch(`${url}/embed`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ inputs, truncate: true }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`${url}/embed answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as readonly (readonly number[])[];
}
