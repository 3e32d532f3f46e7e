import { definePlugin, type Refusal } from '@toolmgr/core';
import { z } from 'zod';

const hour = z.int().min(0).max(24);

const config = z.strictObject({
  backend: z.string().describe('the backend that is closed outside the hours'),
  open: hour.default(9).describe('first hour of the day with calls'),
  close: hour.default(17).describe('first hour of the day without calls'),
  zone: z.string().default('UTC').describe('time zone, as in Europe/Berlin'),
});

const CLOSED: Refusal = { refused: true, status: 403, reason: 'this backend is closed now' };

export default definePlugin({
  address: 'business-hours',
  stability: 'stable',
  summary: 'refuses calls of one backend outside business hours',
  contractKey: 'businessHours',
  config,
  /** The section is for one backend: the file must list it. */
  problems({ backend }, { backends }) {
    const isListed = backends.some(({ name }) => name === backend);
    return isListed ? [] : [{ path: ['backend'], message: `no backend is named "${backend}"` }];
  },
  /** The zone is that of the file's `metadata`, unless the section has its own. */
  fromContract(section, { metadata }, use) {
    return { plugins: [{ use, with: { zone: metadata?.timeZone ?? 'UTC', ...(section as object) } }] };
  },
  apply(core, { backend, open, close, zone }) {
    const clock = new Intl.DateTimeFormat('en', { hour: 'numeric', hourCycle: 'h23', timeZone: zone });
    core.hooks.authorize.tap('business-hours', ({ target }) => {
      const now = Number(clock.format());
      return target.backend === backend && (now < open || now >= close) ? CLOSED : undefined;
    });
  },
});
