// The health check of the image: ends with 0 when the server of this container answers.
const url = process.env.TOOLMGR_HEALTH_URL ?? 'http://127.0.0.1:4483/health';
const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) }).catch(() => undefined);
process.exitCode = answer?.ok === true ? 0 : 1;
