import type { SignInChanged } from '@toolmgr/plugins/kit/extension-points';

/** What the authorization server reports, without its time. */
export type SignInReport = Omit<SignInChanged, 'atMs'>;

/** Reports what people and clients did, for audits. */
export type Report = (change: SignInReport) => void;
