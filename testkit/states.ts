import { PersonMailEntity } from '#shared/messaging/inbox/mail/entity.ts'
import { unsubscribeUrl } from '#shared/messaging/inbox/mail/unsubscribe.ts'
import { APPLICATION, signedInByEmail, type TestDeveloper, unique } from './developers.ts'
import { giveEmail } from './email.ts'
import { hostActors } from './hosts.ts'
import { createAuthenticator } from './passkeys.ts'
import type { Stage } from './stage.ts'

// States that valid calls of several endpoints need, beyond those of the stage.

export const ADMIN = { 'x-admin-key': 'local-admin-key' }

/** Creates a file or folder as a person. */
export const filedAs = async (stage: Stage, body: object) => {
  const { token } = (await stage.integration()).person
  const answer = await stage.platform.call('POST', '/console/files', { token, body })
  return { token, id: answer.body.id as string }
}

/** Creates an integration, and an A2A agent of its workspace. */
export const a2aAgentOf = async (stage: Stage) => {
  const app = await stage.integration()
  return { ...(await stage.a2aAgent(app)), token: app.token }
}

export const a2aTaskOf = async (stage: Stage) => {
  const app = await stage.integration()
  return { ...(await stage.a2aTask(app)), token: app.token }
}

export const QUESTION = {
  shelf: {
    message: 'Which shelf?',
    schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
}

/** Creates a run with an unanswered question, and its answer. */
export const asking = async (stage: Stage) => {
  const { app, run, callback } = await stage.running()
  const body = { input_requests: QUESTION }
  await stage.platform.call('POST', `/api/v1/runs/${run.id}/input-requests`, { token: callback, body })
  return { app, run, responses: { shelf: { action: 'accept', content: { name: 'Left' } } } }
}

/** Creates a host's consent link, and a person who can decide it. */
export const askedByHost = async (stage: Stage) => {
  const host = hostActors(stage.platform)
  return { tg: await host.link(await host.register()), person: await stage.actors.signIn() }
}

export const asked = async (stage: Stage) => {
  const { app } = await stage.integration()
  const tg = await stage.actors.link(app, { code_challenge: stage.pkce().challenge })
  return { tg, person: await stage.actors.signIn() }
}

export const emailOf = async ({ platform }: Stage, headers: Record<string, string>): Promise<string> =>
  (await platform.call('GET', '/api/v1/dev/me', { headers })).body.email

export const budgeted = async (stage: Stage) => {
  const { token } = (await stage.integration()).person
  const body = { subject: { type: 'workspace' }, period: 'day', limits: { runs: 10 } }
  const { body: budget } = await stage.platform.call('POST', '/console/budgets', { token, body })
  return { token, id: budget.id as string }
}

export const scheduled = async (stage: Stage) => {
  const { installation, person, token } = await stage.integration()
  const body = {
    installation_id: installation.id,
    name: 'Weekly summary',
    start: { input: { question: 'What happened this week?' } },
    when: { cron: '0 9 * * MON', time_zone: 'Europe/Amsterdam' },
  }
  const { body: schedule } = await stage.platform.call('POST', '/console/schedules', { token: person.token, body })
  return { token: person.token, appToken: token, installation, id: schedule.id as string }
}

export const invited = async (stage: Stage) => {
  const { token } = (await stage.integration()).person
  const { body } = await stage.platform.call('POST', '/console/invitations', { token, body: {} })
  return { token, id: body.id as string }
}

/** Creates an admin account. */
export const staff = async ({ platform }: Stage) => {
  const password = 'a moderator’s password'
  const body = { email: `${unique('mo')}@example.com`, name: 'Mo', role: 'moderator', password }
  const { body: admin } = await platform.call('POST', '/admin/admins', { headers: ADMIN, body })
  return { id: admin.id as string, email: admin.email as string, password }
}

export const signedInStaff = async (stage: Stage) => {
  const account = await staff(stage)
  const { email, password } = account
  const { body } = await stage.platform.call('POST', '/admin/auth/login', { body: { email, password } })
  const token = body.token as string
  const { body: me } = await stage.platform.call('GET', '/admin/me', { token })
  return { ...account, token, session: me.session.id as string }
}

type Call = TestDeveloper['call']

const as =
  ({ platform }: Stage, token: string): Call =>
  (method, path, body) =>
    platform.call(method, path, { token, body })

/** Prepares the request that adds a passkey to the account of a session. @param path of the account's passkeys */
const newPasskey = async (call: Call, path: string) => {
  const authenticator = createAuthenticator()
  const { body: asked } = await call('POST', `${path}/options`)
  return { authenticator, body: { name: 'Laptop', ...authenticator.create(asked) } }
}

const addedPasskey = async (call: Call, path: string) => {
  const { authenticator, body } = await newPasskey(call, path)
  return { authenticator, passkey: (await call('POST', path, body)).body.id as string }
}

const STAFFS = '/admin/me/passkeys'
const PERSONS = '/console/passkeys'
const DEVELOPERS = '/api/v1/dev/me/passkeys'

export const staffAddingPasskey = async (stage: Stage) => {
  const { token } = await signedInStaff(stage)
  return { token, body: (await newPasskey(as(stage, token), STAFFS)).body }
}

/** Creates an admin with a passkey, signed in. */
export const withPasskey = async (stage: Stage) => {
  const account = await signedInStaff(stage)
  return { ...account, ...(await addedPasskey(as(stage, account.token), STAFFS)) }
}

export const personAddingPasskey = async (stage: Stage) => {
  const { token } = await stage.actors.signIn()
  return { token, body: (await newPasskey(as(stage, token), PERSONS)).body }
}

/** Creates a person with a passkey, signed in. */
export const personWithPasskey = async (stage: Stage) => {
  const { token } = await stage.actors.signIn()
  return { token, ...(await addedPasskey(as(stage, token), PERSONS)) }
}

/** Signs the owner of a new developer account in by e-mail. */
export const founder = async (stage: Stage) =>
  signedInByEmail(stage.platform, await emailOf(stage, (await stage.developer()).headers))

export const teammateAddingPasskey = async (stage: Stage) => {
  const { headers, call } = await founder(stage)
  return { headers, body: (await newPasskey(call, DEVELOPERS)).body }
}

/** Creates a developer with a passkey, signed in. */
export const teammateWithPasskey = async (stage: Stage) => {
  const { headers, call } = await founder(stage)
  return { headers, ...(await addedPasskey(call, DEVELOPERS)) }
}

/** Returns the query of the link that ends a person's e-mail about their workspace. */
export const unsubscribeQuery = async ({ actors, platform }: Stage): Promise<string> => {
  const { token, user, workspace } = await actors.signIn()
  await giveEmail(platform, token, `${unique('person')}@example.com`)
  const mail = await platform.deps.table.get(PersonMailEntity, { user_id: user.id })
  if (!mail) throw new Error('the person has no address')
  return unsubscribeUrl('', mail, workspace.id).split('?')[1] ?? ''
}

/** Creates an admin account with a key. */
export const withKey = async (stage: Stage) => {
  const account = await staff(stage)
  const sent = { headers: ADMIN, body: { name: 'ci' } }
  const { body } = await stage.platform.call('POST', `/admin/admins/${account.id}/keys`, sent)
  return { ...account, key: body.id as string, secret: body.key as string }
}

export const developerId = async (stage: Stage): Promise<string> => (await stage.developer()).owner.id

/** Creates a version that waits for moderation. @returns the ids of its app and of itself */
export const waitingVersion = async (stage: Stage): Promise<[app: string, version: string]> => {
  const { app, owner } = await stage.listed()
  const { body: newest } = await owner.call('GET', `/api/v1/dev/apps/${app.id}/versions`)
  const manifest = { ...newest.items[0].manifest, version: '1.1.0' }
  return [app.id, (await owner.call('POST', `/api/v1/dev/apps/${app.id}/versions`, manifest)).body.id]
}

/** Changes a listed app. @returns the ids of the app and of the revision that waits for a decision */
export const waitingRevision = async (stage: Stage): Promise<[app: string, revision: string]> => {
  const { app, owner } = await stage.listed()
  const { body } = await owner.call('PATCH', `/api/v1/dev/apps/${app.id}`, { summary: 'Counts the stock twice.' })
  return [app.id, body.pending_revision.id]
}

/** Creates an open application for the verified badge. */
export const applied = async (stage: Stage): Promise<string> => {
  const { owner } = await stage.submittable()
  return (await owner.call('POST', '/api/v1/dev/verification', APPLICATION)).body.id
}

/** Returns a time that is so long after the stage's. */
export const later = ({ platform }: Stage, ms: number): string => new Date(platform.clock.now() + ms).toISOString()
