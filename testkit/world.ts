import type { Endpoint } from '#shared/http/endpoint.ts'
import { newId, type PREFIXES } from '#shared/kernel/ids.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { installed } from './fixtures.ts'
import type { TestPlatform } from './platform.ts'

/** Every kind of caller, each with a valid credential. */
export interface World {
  integration: Awaited<ReturnType<typeof installed>>
  credentials: Record<string, Record<string, string>>
}

export const createWorld = async (platform: TestPlatform, scopes?: readonly Scope[]): Promise<World> => {
  const integration = await installed(platform.deps, { ...(scopes && { scopes }) })
  const registered = await platform.call('POST', '/api/v1/dev/register', {
    body: { email: `dev-${integration.app.id}@example.com`, name: 'Dev' },
  })
  return {
    integration,
    credentials: {
      integration: { authorization: `Bearer ${integration.token}` },
      developer: { 'x-developer-key': registered.body.api_key },
      console: { authorization: `Bearer ${integration.person.token}` },
      admin: { 'x-admin-key': 'local-admin-key' },
      none: {},
      client: {},
    },
  }
}

/** Fills the path with well-formed ids that don't exist. */
export const pathWithUnknownIds = (endpoint: Endpoint): string =>
  endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const kind = endpoint.params[name]
    return kind && kind !== 'text' ? newId(kind as keyof typeof PREFIXES, Date.now()) : 'unknown'
  })

/** Bodies of the wrong type for any endpoint. */
export const WRONG_BODIES: [what: string, body: unknown][] = [
  ['an array', []],
  ['a string', '"text"'],
  ['null', 'null'],
  ['a number', '42'],
  ['an unknown field', { surely_no_such_field: 1 }],
]
