import { AppEntity, DeveloperAppEntity } from '#shared/catalogue/apps/entity.ts'
import { type Answer, succeeded, type TestPlatform } from './platform.ts'

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
  const account = { email: `${unique('dev')}@example.com`, name: 'Ada Example' }
  const body = await succeeded(platform.call('POST', '/api/v1/dev/register', { body: account }))
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
  const app = {
    slug,
    type: 'agent',
    // Names of listed apps must not look alike.
    name: `Stock helper ${slug.replace('-', ' no. ')}`,
    requested_scopes: ['runs:write', 'tools:invoke'],
    ...fields,
  }
  return succeeded(developer.call('POST', '/api/v1/dev/apps', app))
}

/** Makes a developer the owner of an installed app. */
export const adopt = ({ deps }: TestPlatform, { id: developer_id }: { id: string }, { id }: { id: string }) =>
  deps.table.transact([
    AppEntity.update({ id }, { set: { developer_id } }),
    DeveloperAppEntity.create({ developer_id, app_id: id }),
  ])

export const APPLICATION = {
  legal_name: 'Example Ltd',
  website: 'https://example.com/',
  contact_email: 'legal@example.com',
  country: 'NL',
  about: 'We build agents.',
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

/** Returns the code in the newest e-mail to an address. */
const mailedTo = ({ mails }: TestPlatform, address: string): string =>
  /dvt_[\w-]+/.exec(mails.findLast(({ to }) => to === address)?.text ?? '')?.[0] ?? ''

/** Confirms the address of a developer account, as its owner would before inviting somebody. @returns the address */
export const confirmEmail = async (platform: TestPlatform, developer: Pick<TestDeveloper, 'call'>): Promise<string> => {
  const { email, email_verified } = (await developer.call('GET', '/api/v1/dev/me')).body
  if (email_verified) return email
  await developer.call('POST', '/api/v1/dev/me/email-proof')
  await succeeded(developer.call('POST', '/api/v1/dev/me/email-proof/confirm', { token: mailedTo(platform, email) }))
  return email
}

export interface TestTeammate {
  /** `dme_…` */
  id: string
  email: string
  /** Key of a session that the teammate opened by e-mail. */
  key: string
  headers: Record<string, string>
  call: TestDeveloper['call']
}

const asTeammate = async (platform: TestPlatform, email: string, answer: Promise<Answer>): Promise<TestTeammate> => {
  const key: string = (await succeeded(answer)).session_key
  const headers = { 'x-developer-key': key }
  const call: TestDeveloper['call'] = (method, path, sent, more) =>
    platform.call(method, path, { body: sent, headers: { ...headers, ...more } })
  return { id: (await call('GET', '/api/v1/dev/me')).body.member.id, email, key, headers, call }
}

/** Signs in to the portal with a link by e-mail. */
export const signedInByEmail = async (platform: TestPlatform, email: string): Promise<TestTeammate> => {
  await platform.call('POST', '/api/v1/dev/sign-in', { body: { email } })
  const body = { token: mailedTo(platform, email) }
  return asTeammate(platform, email, platform.call('POST', '/api/v1/dev/session', { body }))
}

/** Invites somebody to a developer account. @returns their address, and the code in the invitation */
export const invited = async (
  platform: TestPlatform,
  developer: Pick<TestDeveloper, 'call'>,
  role: 'owner' | 'developer' | 'viewer',
  email = `${unique('teammate')}@example.com`,
): Promise<{ id: string; email: string; code: string }> => {
  await confirmEmail(platform, developer)
  const { id } = await succeeded(developer.call('POST', '/api/v1/dev/members', { email, role }))
  return { id, email, code: mailedTo(platform, email) }
}

/** Adds a teammate, signed in. */
export const newTeammate = async (
  platform: TestPlatform,
  developer: Pick<TestDeveloper, 'call'>,
  role: 'owner' | 'developer' | 'viewer',
): Promise<TestTeammate> => {
  const { email, code } = await invited(platform, developer, role)
  const body = { token: code, name: `Bo ${email.split('@')[0]?.replace('-', ' ')}` }
  return asTeammate(platform, email, platform.call('POST', '/api/v1/dev/members/join', { body }))
}
