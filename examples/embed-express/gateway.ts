export { gateway } from '../embed-node-http/gateway.ts';
