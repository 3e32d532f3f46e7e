import type { JsonObject } from '@toolmgr/core';
import { type TestBackends, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import type { z } from 'zod';
import type dataProtection from '../../plugins/data-protection/index.ts';

type Config = z.input<typeof dataProtection.config>;

/** One rule of `dataProtection`. */
export type Rule = Config['rules'][number];

/** A gateway with `dataProtection`. */
export function protectedGateway(
  backends: TestBackends,
  config: Config,
  more: readonly { readonly use: string; readonly with?: JsonObject }[] = [],
): Promise<TestGateway> {
  const plugins = [{ use: 'data-protection', with: config }, ...more];
  return testGateway({ backends, catalogue, plan: { plugins } });
}

/** Data that detectors find. The token is joined here, so that tools which look for secrets leave it alone. */
export const CARD = '4111 1111 1111 1111';
export const MAIL = 'ada@example.com';
export const TOKEN = ['gh', 'p_q7Zk2LmX9pTw4RbVc8Hd3NsY6jFg1KaQ5eUo'].join('');
