import { type Core, defineHook, definePlugin, defineSlot } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';

interface Greeting {
  greet(name: string): string;
}

const greetings = defineSlot<Greeting>('greetings');
const greeted = defineHook<string>('greeted', 'event');
const mayGreet = defineHook<string, 'no'>('mayGreet', 'decision');
const nameGiven = defineHook<string>('nameGiven', 'change');

const plugin = (address: string, apply: (core: Core) => void) =>
  definePlugin({ address, config: z.strictObject({}), apply });

/** A gateway with these plugins, in their order. */
const gatewayOf = (...plugins: ReturnType<typeof plugin>[]) =>
  testGateway({ plugins, backends: { far: fakeServer().tool('t') } });

describe('an extension point of a plugin', () => {
  it('is filled and read by others, whichever comes first in the plan', async () => {
    const english = plugin('test/english', (core) =>
      core.slot(greetings).register('english', { greet: (name) => `Hello, ${name}` }),
    );
    const said: string[] = [];
    const definer = plugin('test/definer', (core) => {
      core.hooks.starting.tap('test/definer', () => void said.push(core.slot(greetings).get('english').greet('Ada')));
    });
    for (const plugins of [
      [english, definer],
      [definer, english],
    ]) {
      await using _ = await gatewayOf(...plugins);
    }
    expect(said).toEqual(['Hello, Ada', 'Hello, Ada']);
  });

  it('calls events, asks for decisions and passes changes on, in the order of the plan', async () => {
    let core: Core | undefined;
    const heard: string[] = [];
    const first = plugin('test/first', (given) => {
      core = given;
      given.hook(greeted).tap('test/first', () => {
        throw new Error('does not stop the others');
      });
      given.hook(nameGiven).tap('test/first', (name) => `${name} Lovelace`);
    });
    const second = plugin('test/second', (given) => {
      given.hook(greeted).tap('test/second', (name) => void heard.push(name));
      given.hook(mayGreet).tapPromise('test/second', async (name) => (name === 'Eve' ? 'no' : undefined));
      given.hook(nameGiven).tapPromise('test/second', async (name) => name.toUpperCase());
    });
    await using kit = await gatewayOf(first, second);
    core?.hook(greeted).call('Ada');
    expect(heard).toEqual(['Ada']);
    expect(kit.logged.join()).toContain('a listener of a plugin failed');
    expect(await core?.hook(mayGreet).promise('Eve')).toBe('no');
    expect(await core?.hook(mayGreet).promise('Ada')).toBeUndefined();
    expect(await core?.hook(nameGiven).promise('Ada')).toBe('ADA LOVELACE');
    expect(kit.gateway.taps()).toMatchObject({ greeted: ['test/first', 'test/second'], mayGreet: ['test/second'] });
  });

  it('is the same for two copies of the package that defines it', async () => {
    const copy = defineSlot<Greeting>('greetings');
    let found: readonly string[] = [];
    const filler = plugin('test/filler', (core) => core.slot(copy).register('copied', { greet: (name) => name }));
    const reader = plugin('test/reader', (core) => {
      core.hooks.starting.tap('test/reader', () => {
        found = core.slot(greetings).names();
      });
    });
    await using _ = await gatewayOf(filler, reader);
    expect(found).toEqual(['copied']);
  });

  it('is closed after the start, as the hooks of the core are', async () => {
    let core: Core | undefined;
    await using _ = await gatewayOf(
      plugin('test/late', (given) => {
        core = given;
      }),
    );
    expect(() => core?.hook(greeted).tap('test/late', () => {})).toThrow('test/late tapped greeted after the gateway');
  });

  it('is refused with the name of one of the core, and with another kind', async () => {
    const refused = (apply: (core: Core) => void) => gatewayOf(plugin('test/wrong', apply));
    await expect(refused((core) => core.slot(defineSlot('stores')))).rejects.toThrow('core.slots.stores');
    await expect(refused((core) => core.hook(defineHook('authorize', 'event')))).rejects.toThrow(
      'core.hooks.authorize',
    );
    await expect(
      refused((core) => {
        core.hook(greeted);
        core.hook(defineHook('greeted', 'change'));
      }),
    ).rejects.toThrow('the hook greeted is defined as event and as change');
  });

  it('names the known implementations and the nearest one for a wrong name', async () => {
    const wrong = plugin('test/wrong', (core) => {
      core.slot(greetings).register('english', { greet: (name) => name });
      core.hooks.starting.tap('test/wrong', () => void core.slot(greetings).get('englich'));
    });
    await expect(gatewayOf(wrong)).rejects.toThrow('slot greetings has no englich, did you mean english?');
  });

  it('has the types of its definition', () => {
    plugin('test/typed', (core) => {
      expectTypeOf(core.slot(greetings).get('english')).toEqualTypeOf<Greeting>();
      core.hook(greeted).tap('test/typed', (name) => expectTypeOf(name).toEqualTypeOf<string>());
      core.hook(mayGreet).tap('test/typed', (name) => (name === '' ? 'no' : undefined));
    });
  });
});
