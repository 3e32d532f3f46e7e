export { definePlugin, type Core, type Plugin } from './extension/plugin.ts';
