import { defineSlot } from '@toolmgr/core';

/** One protocol or method of turning texts into vectors. */
export interface EmbedderKind {
  /**
   * Makes an embedder. The service need not be available yet. @throws GatewayFault PLAN_INVALID when settings do not
   * fit
   */
  open(settings: EmbedderSettings): Promise<Embedder>;
}

/** Settings of an embedder. */
export interface EmbedderSettings {
  /** Base URL. */
  readonly service?: string | undefined;
  /** Name of the model, or its folder when it runs in this process. */
  readonly model?: string | undefined;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Time limit in milliseconds for one request and its whole response. */
  readonly timeoutMs: number;
}

/** Texts to unit vectors. */
export interface Embedder {
  /**
   * What the vectors depend on besides the text. Vectors with different identities must not be compared.
   * @throws when the service has to be requested and does not answer
   */
  identity(signal: AbortSignal): Promise<string>;
  /** Unit vectors of one length, in the order of the texts, for any number of texts. @throws when the service fails */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}

/** Ways to turn texts into vectors, by `embeddingProvider`. */
export const embedders = defineSlot<EmbedderKind>('embedders');
