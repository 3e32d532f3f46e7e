import { keyringStore } from '../../../plugins/secrets/keyring/keyring-store.ts';

// runs in a session with a keyring; prints what each step gave
const store = keyringStore(process.argv[2] ?? '');
const signal = AbortSignal.timeout(30_000);
await store.test(signal);
const steps = [
  await store.write?.('TOKEN', 'value', 'create'),
  await store.write?.('TOKEN', 'value 2', 'create'),
  await store.write?.('OTHER', 'x', 'update'),
  await store.write?.('TOKEN', 'value 3', 'update'),
  await store.read('TOKEN', signal),
  (await store.list?.(signal))?.map(({ key }) => key),
  await store.remove?.('TOKEN'),
  await store.remove?.('TOKEN'),
  (await store.read('TOKEN', signal)) ?? 'none',
];
process.stdout.write(JSON.stringify(steps));
