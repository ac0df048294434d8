import { TOOLS } from '#shared/agents/tools/catalogue.ts'
import { unique } from '#testkit/developers.ts'
import type { Answer } from '#testkit/platform.ts'
import type { Stage } from '#testkit/stage.ts'
import { bearer, endpoints, partsOf, sentSchema } from './support.ts'

/** Sends an address to one place, in an otherwise valid call. */
export type Offer = (url: string) => Promise<Answer>

/**
 * Every declared field of a body or a tool's arguments that takes a web address. Manifests are declared by their own
 * JSON Schema.
 */
export const placesDeclared = (): string[] => [
  ...new Set([
    ...endpoints.flatMap(({ id, body }) =>
      body
        ? partsOf(sentSchema(body())).flatMap(([path, { format }]) => (format === 'uri' ? [`${id} ${path}`] : []))
        : [],
    ),
    ...Object.entries(TOOLS).flatMap(([name, { input }]) =>
      partsOf(sentSchema(input())).flatMap(([path]) => (/(^|\.)url$/.test(path) ? [`${name} ${path}`] : [])),
    ),
  ]),
]

const APP_FIELDS = ['logo_url', 'privacy_url', 'homepage_url', 'install_url']

/** Fields that one call fills together, by the call's name. Its answer has to name each of them. */
export const fieldsOf = (place: string): string[] => place.split(' ')[1]?.split(',') ?? []

/** By place: the call that offers an address there. */
export const offers = (stage: () => Stage): Record<string, () => Promise<Offer>> => {
  const call = (method: string, path: string, headers: Record<string, string>, body: unknown) => {
    // Keeps rate limits out of the way without letting tokens expire.
    stage().platform.clock.advance(500)
    return stage().platform.call(method, path, { headers, body })
  }
  const asAdmin = { 'x-admin-key': 'local-admin-key' }
  const creating = (fields: (url: string) => object) => async (): Promise<Offer> => {
    const { headers } = await stage().developer()
    const rest = { name: 'Sample', type: 'agent' }
    return (url) => call('POST', '/api/v1/dev/apps', headers, { slug: unique('offer'), ...rest, ...fields(url) })
  }
  const editing = (fields: (url: string) => object) => async (): Promise<Offer> => {
    const { app, headers } = await stage().developer()
    return (url) => call('PATCH', `/api/v1/dev/apps/${app.id}`, headers, fields(url))
  }
  const publishing = (path: 'versions' | 'validate', fields: (url: string) => object) => async (): Promise<Offer> => {
    const { owner, app, headers } = await stage().developer()
    const to = path === 'versions' ? `/api/v1/dev/apps/${app.id}/versions` : '/api/v1/dev/manifest/validate'
    return (url) => call('POST', to, headers, { ...stage().manifestFor(owner, app), ...fields(url) })
  }
  const pages = (url: string) => Object.fromEntries(APP_FIELDS.map((field) => [field, url]))
  const redirects = (url: string) => ({ redirect_uris: [url] })
  const endpoint = (url: string) => ({ runtime: { type: 'webhook', endpoint: url } })
  const surface = (url: string) => ({ surface: { url } })
  return {
    'api.webhooks.create url': async () => {
      const { token } = await stage().integration()
      return (url) => call('POST', '/api/v1/webhooks', bearer(token), { url, events: ['*'] })
    },
    'api.webhooks.update url': async () => {
      const { token } = await stage().integration()
      const body = { url: 'https://hooks.example.com/', events: ['*'] }
      const { id } = (await call('POST', '/api/v1/webhooks', bearer(token), body)).body
      return (url) => call('PATCH', `/api/v1/webhooks/${id}`, bearer(token), { url })
    },
    [`developer.apps.create ${APP_FIELDS}`]: creating(pages),
    [`developer.apps.edit ${APP_FIELDS}`]: editing(pages),
    'developer.apps.create redirect_uris[]': creating(redirects),
    'developer.apps.edit redirect_uris[]': editing(redirects),
    'developer.verification.apply website': async () => {
      const { headers } = await stage().developer()
      const rest = { legal_name: 'Example', contact_email: 'a@example.com', country: 'NL', about: 'We build.' }
      return (website) => call('POST', '/api/v1/dev/verification', headers, { ...rest, website })
    },
    'admin.settings.setPmIdentity logo': async () => (logo) =>
      call('PUT', '/admin/settings/pm-identity', asAdmin, { name: 'Ada', logo }),
    'admin.settings.setPmIdentity logo_url': async () => (logo_url) =>
      call('PUT', '/admin/settings/pm-identity', asAdmin, { name: 'Ada', logo_url }),
    'http_fetch url': async () => {
      const { token } = await stage().integration()
      stage().platform.clock.advance(1_000)
      const { body: run } = await stage().platform.call('POST', '/api/v1/runs', { token, body: {} })
      await stage().platform.drain()
      if (!run.id) throw new Error('no run to fetch in')
      return (url) =>
        call('POST', '/api/v1/tools/http_fetch/invoke', bearer(token), { run_id: run.id, arguments: { url } })
    },
    'published runtime.endpoint': publishing('versions', endpoint),
    'validated runtime.endpoint': publishing('validate', endpoint),
    'published surface.url': publishing('versions', surface),
    'validated surface.url': publishing('validate', surface),
  }
}
