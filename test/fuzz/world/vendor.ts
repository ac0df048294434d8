import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import { newAgent, sandboxToken } from '#test/e2e/support.ts'
import { APPLICATION } from '#testkit/developers.ts'
import type { Receiver } from '#testkit/receiver.ts'
import { bearer, type Credential, LOCAL_ADMIN, type WorldContext } from './context.ts'

/** Redirect target of a customer's consent, where nothing listens. */
export const REDIRECT = 'http://127.0.0.1:9/callback'

const LISTING = {
  summary: 'Helps.',
  description: 'It helps a lot.',
  logo_url: 'https://example.com/logo.png',
  privacy_url: 'https://example.com/privacy',
  support_email: 'help@example.com',
}

/** Creates a developer with an app listed in the marketplace, and another whose key may be rotated. */
export const createVendor = async ({ platform, unique, call }: WorldContext, agent: Receiver) => {
  const made = await newAgent(platform.baseUrl, {
    endpoint: agent.url,
    redirectUri: REDIRECT,
    scopes: [...SCOPE_NAMES],
  })
  const credential: Credential = { 'X-Developer-Key': made.headers['x-developer-key'] }
  const path = `/api/v1/dev/apps/${made.app.id}`
  const sandbox = bearer(await sandboxToken(platform.baseUrl, made))
  await call('PATCH', path, credential, LISTING)
  await call('POST', `${path}/test-run`, credential, { input: {} })
  await call('POST', `${path}/submit`, credential)
  await call('POST', `/admin/apps/${made.app.id}/approve`, LOCAL_ADMIN)
  const { slug } = await call('GET', path, credential)
  const me = await call('GET', '/api/v1/dev/me', credential)
  const version = (await call('GET', `${path}/versions`, credential)).items[0]
  const verification = await call('POST', '/api/v1/dev/verification', credential, APPLICATION)
  const spare = await call('POST', '/api/v1/dev/register', {}, { email: `spare-${unique}@example.com`, name: 'Eve' })
  return {
    app: made.app,
    slug: slug as string,
    credential,
    sandbox,
    spares: { 'developer.account.rotateKey': { 'X-Developer-Key': spare.api_key as string } },
    ids: { app: made.app.id, developer: me.id, version: version.id, verification: verification.id },
    buckets: [
      ...[`app:${made.app.id}`, `client:${made.app.id}`, `checks:${made.app.id}`],
      ...[`developer:${me.id}`, `test-run:${me.id}`],
    ],
  }
}

export type Vendor = Awaited<ReturnType<typeof createVendor>>
