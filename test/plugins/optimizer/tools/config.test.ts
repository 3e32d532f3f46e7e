import { describe, expect, it } from 'vitest';
import optimizer from '../../../../plugins/optimizer/tools/index.ts';
import { refusedAtStart } from '../../../support/optimized-gateway.ts';
import { proves } from '../../../support/proves.ts';

const read = (given: object) => optimizer.config.safeParse(given);
const issues = (given: object) =>
  read(given).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
const openai = { embeddingProvider: 'openai', embeddingService: 'https://vectors.test/v1', embeddingModel: 'm' };

describe('the section optimizer', () => {
  proves(
    [
      'vmcp.optimizer.embedding-provider',
      'vmcp.optimizer.embedding-service-timeout',
      'vmcp.optimizer.semantic-ratio',
      'vmcp.optimizer.max-tools-to-return',
      'vmcp.optimizer.distance-threshold',
    ],
    'has the defaults of the contract',
    () => {
      expect(read({}).data).toEqual({
        alwaysListed: [],
        embeddingProvider: 'tei',
        embeddingServiceTimeout: 30_000,
        hybridSearchSemanticRatio: '0.5',
        maxToolsToReturn: 8,
        semanticDistanceThreshold: '1.0',
        searcher: 'hybrid',
      });
    },
  );

  proves(
    [
      'vmcp.optimizer.semantic-ratio',
      'vmcp.optimizer.max-tools-to-return',
      'vmcp.optimizer.distance-threshold',
      'vmcp.optimizer.embedding-service',
      'vmcp.optimizer.embedding-service-timeout',
    ],
    'refuses values out of bounds and names the key',
    () => {
      const wrong: [object, RegExp][] = [
        [{ hybridSearchSemanticRatio: '1.1' }, /^hybridSearchSemanticRatio: expected a decimal from 0 to 1/],
        [{ hybridSearchSemanticRatio: 0.5 }, /^hybridSearchSemanticRatio: .*quotes/],
        [{ maxToolsToReturn: 0 }, /^maxToolsToReturn/],
        [{ maxToolsToReturn: 51 }, /^maxToolsToReturn/],
        [{ maxToolsToReturn: 2.5 }, /^maxToolsToReturn/],
        [{ semanticDistanceThreshold: '2.1' }, /^semanticDistanceThreshold: expected a decimal from 0 to 2/],
        [{ semanticDistanceThreshold: '-1' }, /^semanticDistanceThreshold/],
        [{ embeddingService: 'vectors:80' }, /^embeddingService: expected/],
        [{ embeddingService: 'http://me:secret@x' }, /^embeddingService: expected a URL without user name/],
        [{ embeddingService: 'http://x?a=1' }, /^embeddingService: expected a base URL without query/],
        [{ embeddingServiceTimeout: '30' }, /^embeddingServiceTimeout: expected a Go duration/],
        [{ embeddingServiceTimeout: '0' }, /^embeddingServiceTimeout/],
        [{ embeddingProvider: 'gpt' }, /^embeddingProvider/],
        [{ directPath: 'direct' }, /^directPath/],
      ];
      for (const [given, expected] of wrong) expect(issues(given).join(), JSON.stringify(given)).toMatch(expected);
      expect(read({ hybridSearchSemanticRatio: '0.0', semanticDistanceThreshold: '2' }).success).toBe(true);
    },
  );

  proves('vmcp.optimizer.embedding-model', 'needs a model for openai, and none for tei', () => {
    expect(issues({ ...openai, embeddingModel: undefined })).toEqual([
      'embeddingModel: missing, embeddingProvider openai needs the name of a model',
    ]);
    expect(issues(openai)).toEqual([]);
    expect(issues({ embeddingService: 'http://tei', embeddingModel: 'whatever' })).toEqual([]);
    expect(issues({ embeddingProvider: 'openai', embeddingModel: 'm' })).toEqual([
      'embeddingService: missing, embeddingProvider openai needs the base URL of a service',
    ]);
  });

  proves('vmcp.optimizer.embedding-headers', 'accepts headers for openai only, at most 32', () => {
    const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, 'v']));
    expect(issues({ ...openai, embeddingHeaders: headers(32) })).toEqual([]);
    expect(issues({ ...openai, embeddingHeaders: headers(33) })).toEqual([
      'embeddingHeaders: expected at most 32 headers',
    ]);
    expect(issues({ embeddingService: 'http://tei', embeddingHeaders: { 'x-a': 'b' } })).toEqual([
      'embeddingHeaders: are for embeddingProvider openai only, got tei',
    ]);
    expect(issues({ ...openai, embeddingHeaders: { 'x-a': 'b\r\nx-c: d' } })).toHaveLength(1);
    expect(issues({ ...openai, embeddingHeaders: { 'x a': 'b' } })).toHaveLength(1);
  });

  proves('vmcp.optimizer.embedding-headers-forbidden', 'refuses headers that the gateway sets itself', () => {
    for (const name of [
      'Authorization',
      'authorization',
      'Content-Type',
      'CONTENT-TYPE',
      'Host',
      'transfer-encoding',
    ]) {
      const [issue = ''] = issues({ ...openai, embeddingHeaders: { [name]: 'x' } });
      expect(issue, name).toMatch(/embeddingHeaders/);
    }
  });

  proves('choice.optimizer.local-model', 'names what a local model lacks', async () => {
    const uses = [{ use: 'optimizer/search' }, { use: 'optimizer/embed-local' }];
    const local = { embeddingProvider: 'local', embeddingModel: '/nowhere/model' };
    expect(await refusedAtStart(local, uses)).toMatch(/embeddingModel: there is no config\.json in \/nowhere\/model/);
    expect(issues({ embeddingProvider: 'local' })).toEqual([
      'embeddingModel: missing, embeddingProvider local needs the folder of a model',
    ]);
  });

  it('names the plugin that fills a missing slot', async () => {
    const uses = [{ use: 'optimizer/search' }, { use: 'optimizer/embed-openai' }];
    expect(await refusedAtStart({ embeddingService: 'http://127.0.0.1:1' }, uses)).toMatch(/tei.*openai/);
    expect(await refusedAtStart({})).toMatch(/hybrid/);
    expect(await refusedAtStart({ directPath: '/elsewhere' }, uses)).toMatch(/must lie below \/mcp\//);
  });
});
