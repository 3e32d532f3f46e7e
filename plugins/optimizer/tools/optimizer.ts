import { join } from 'node:path';
import { type Core, GatewayFault, type Searcher, type ToolEntry } from '@toolmgr/core';
import { type Embedder, embedders } from '@toolmgr/plugins/kit/extension-points';
import { stateDir } from '@toolmgr/plugins/kit/files';
import { createCaller } from './call-tool.ts';
import type { OptimizerConfig } from './config.ts';
import { createEmbeddingIndex, type EmbeddingIndex } from './embedding-index.ts';
import { createFinder } from './find-tool.ts';
import { createIndexCache, type IndexCache } from './index-cache.ts';
import { reportSearches } from './report-search.ts';
import type { VirtualTools } from './virtual-tools.ts';

/** The optimizer of one gateway. */
export interface Optimizer extends VirtualTools {
  /** Indexes changed tools in the background, before the first search. */
  prepare(reachable: readonly ToolEntry[]): void;
  /** @throws GatewayFault SLOT_UNKNOWN, or PLAN_INVALID when the embedder cannot be opened */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates an optimizer; searcher and embedder are looked up at the start. */
export function createOptimizer(core: Core, config: OptimizerConfig): Optimizer {
  const stopped = new AbortController();
  let running: { readonly find: VirtualTools['find']; readonly indexCache: IndexCache } | undefined;
  let closing: (() => Promise<void>) | undefined;
  return {
    async start() {
      const searcher: Searcher = core.slots.searchers.get(config.searcher);
      const embedder = await openEmbedder(core, config);
      const folder = join(stateDir(core.environment), 'optimizer');
      const embeddings: EmbeddingIndex | undefined =
        embedder && createEmbeddingIndex({ embedder, folder, log: core.log, now: core.now, signal: stopped.signal });
      closing = embedder && (() => embedder.close());
      const indexCache = createIndexCache({ searcher, embeddings, log: core.log, signal: stopped.signal });
      running = {
        indexCache,
        find: reportSearches(core, 'search', createFinder({ core, config, searcher, indexCache, embeddings })),
      };
    },
    async stop() {
      stopped.abort(new Error('the gateway is stopping'));
      await closing?.();
    },
    prepare: (reachable) => running?.indexCache.prepare(reachable),
    find(call) {
      if (running === undefined) throw new GatewayFault('PLAN_INCOMPLETE', 'find_tool was called before the start');
      return running.find(call);
    },
    call: reportSearches(core, 'call', createCaller(core)),
  };
}

/** The configured embedder; `undefined`, with a log line, when search uses keywords only. */
async function openEmbedder({ slot, log }: Core, config: OptimizerConfig): Promise<Embedder | undefined> {
  const { embeddingProvider: provider, embeddingService: service, embeddingModel: model } = config;
  const hasNone = provider === 'tei' && service === undefined;
  if (hasNone || Number(config.hybridSearchSemanticRatio) === 0) {
    const because = hasNone ? 'no embeddingService is configured' : 'hybridSearchSemanticRatio is 0';
    log.info('the optimizer finds tools by keywords only', { because });
    return undefined;
  }
  if (provider === 'tei' && model !== undefined) {
    log.warn('embeddingModel is ignored: a server of provider tei has its own model', { embeddingModel: model });
  }
  return slot(embedders)
    .get(provider)
    .open({
      service,
      model,
      headers: config.embeddingHeaders ?? {},
      timeoutMs: config.embeddingServiceTimeout,
    });
}
