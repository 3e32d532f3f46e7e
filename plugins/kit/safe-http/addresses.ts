/** Which URLs and IP addresses a setting may name, without HTTP. */
export { isPrivateHost } from './is-private-host.ts';
export { type IssuerAddress, issuerAddressProblem, withAdvice } from './issuer-address.ts';
export { LOOPBACK, notPublic } from './public-address.ts';
export { addressProblem, plainUrl, remoteUrlProblem, type UrlRules } from './remote-url.ts';
