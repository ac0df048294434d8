import type { Answer, TestPlatform } from './platform.ts'

let made = 0
/** Returns a text that no other test of the file uses. */
export const unique = (prefix: string): string => `${prefix}-${++made}`

export interface TestDeveloper {
  id: string
  key: string
  workspaceId: string
  /** Sends a request with the developer's key. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

/** Registers a developer with a unique e-mail address. */
export const newDeveloper = async (platform: TestPlatform): Promise<TestDeveloper> => {
  const { status, body } = await platform.call('POST', '/api/v1/dev/register', {
    body: { email: `${unique('dev')}@example.com`, name: 'Ada Example' },
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return {
    id: body.developer.id,
    key: body.api_key,
    workspaceId: body.sandbox_workspace.id,
    call: (method, path, sent, headers) =>
      platform.call(method, path, { body: sent, headers: { 'x-developer-key': body.api_key, ...headers } }),
  }
}

export interface TestApp {
  id: string
  slug: string
  client_secret: string
  signing_secret: string
}

export const newApp = async (developer: TestDeveloper, fields: Record<string, unknown> = {}): Promise<TestApp> => {
  const slug = unique('app')
  const { status, body } = await developer.call('POST', '/api/v1/dev/apps', {
    slug,
    type: 'agent',
    // Names of listed apps must not look alike.
    name: `Stock helper ${slug.replace('-', ' no. ')}`,
    requested_scopes: ['runs:write', 'tools:invoke'],
    ...fields,
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}

/** Builds a manifest for an app, with a vendor name derived from the developer. */
export const manifestFor = (developer: TestDeveloper, app: TestApp, fields: Record<string, unknown> = {}) => ({
  id: `vendor-${developer.id.slice(-12)}.${app.slug}`,
  version: '1.0.0',
  name: 'Stock helper',
  summary: 'Answers questions about stock.',
  runtime: { type: 'webhook', endpoint: 'https://agent.example.com/run' },
  ...fields,
})

export const publish = async (
  developer: TestDeveloper,
  app: TestApp,
  fields: Record<string, unknown> = {},
): Promise<Answer> => developer.call('POST', `/api/v1/dev/apps/${app.id}/versions`, manifestFor(developer, app, fields))
