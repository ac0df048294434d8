import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { personOf } from '#local/telegram/person.ts'
import { createSigner } from '#local/telegram/signing.ts'
import { AppInstallationEntity, InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { DeveloperEntity, newDeveloper } from '#shared/identity/developers/index.ts'
import { MemberEntity, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { installed } from '#testkit/fixtures.ts'
import { actors, pkce } from '#testkit/oauth.ts'
import { startPlatform, TEST_BOT, type TestPlatform } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const act = actors(platform)
beforeEach(() => {
  platform.clock.advance(60_000)
  platform.outbox.length = 0
})

const installationsOf = async (workspaceId: string) =>
  (await platform.deps.table.query(InstallationEntity, { workspace_id: workspaceId }, { limit: 100 })).items

const setStatus = (id: string, status: 'draft' | 'in_review' | 'suspended' | 'delisted') =>
  platform.deps.table.transact([AppEntity.update({ id }, { set: { status } })])

interface Place {
  name: string
  granted_scopes: string[] | null
}

/** Counts the round trips to the table. @returns a function that stops and returns the count */
const countSends = ({ store }: TestPlatform) => {
  let sends = 0
  store.client.middlewareStack.add(
    (next) => (args) => {
      sends++
      return next(args)
    },
    { step: 'build', name: 'count' },
  )
  return () => {
    store.client.middlewareStack.remove('count')
    return sends
  }
}

describe('GET /oauth/consent/request', () => {
  it('returns app, scopes, workspaces and expiry', async () => {
    const { app } = await installed(platform.deps, { scopes: ['runs:read', 'chat:write'] })
    const person = await act.signIn()
    const answer = await act.open(person.token, await act.link(app))
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      app: {
        id: app.id,
        name: app.name,
        summary: 'An agent.',
        logo_url: null,
        logo_path: expect.stringMatching(/^\/console\/logos\/avatar-/),
        verified: false,
        privacy_url: null,
      },
      scopes: [
        { scope: 'runs:read', dangerous: false },
        { scope: 'chat:write', dangerous: true },
      ],
      workspaces: [
        {
          id: person.workspace.id,
          is_sandbox: false,
          role: 'owner',
          blocked_by: null,
          denied_scopes: [],
          granted_scopes: null,
        },
      ],
      redirect_host: 'client.example',
      expires_in: 600,
    })
    expect(Date.parse(answer.body.expires_at)).toBe(platform.clock.now() + 600_000)
  })

  it('names the developer: the company, or the person', async () => {
    const { app } = await installed(platform.deps)
    const { token } = await act.signIn()
    const developer = newDeveloper({
      ...stampOf(app.developer_id),
      email: 'dev@example.com',
      name: 'Ann',
      status: 'active',
      verified: false,
      sandbox_workspace_id: 'ws_none',
      key_hash: app.id,
      language: 'en',
    })
    await platform.deps.table.transact([DeveloperEntity.create(developer)])
    const tg = await act.link(app)
    expect((await act.open(token, tg)).body.app.developer_name).toBe('Ann')
    await platform.deps.table.transact([DeveloperEntity.update(developer, { set: { company: 'Acme Ltd' } })])
    expect((await act.open(token, tg)).body.app.developer_name).toBe('Acme Ltd')
  })

  it('shows for each workspace what the app may do there now, in a fixed number of reads', async () => {
    const { app } = await installed(platform.deps, { scopes: ['runs:read', 'chat:write'] })
    const at = (workspace: string) => ({ user: 'in-three', workspace })
    const [one, two, three] = [at('first'), at('second'), at('third')]
    const person = await act.signIn(one)
    await act.decide(person.token, await act.link(app), { decision: 'approve', scopes: ['runs:read'] })
    await act.signIn(two)
    const tg = await act.link(app)
    const reads = async () => {
      const counted = countSends(platform)
      const answer = await act.open(person.token, tg)
      return {
        sends: counted(),
        granted: answer.body.workspaces.map((each: Place) => [each.name, each.granted_scopes]),
      }
    }
    await act.open(person.token, tg)
    const before = await reads()
    expect(Object.fromEntries(before.granted)).toEqual({ [one.workspace]: ['runs:read'], [two.workspace]: null })
    await act.signIn(three)
    const after = await reads()
    expect(Object.fromEntries(after.granted)).toMatchObject({ [one.workspace]: ['runs:read'], [three.workspace]: null })
    expect(after.sends).toBe(before.sends)
  })

  it('can’t be chosen for a suspended installation, and is new for a removed one', async () => {
    const { app, installation, workspaceId } = await installed(platform.deps)
    const { token } = await act.signIn({ workspace: workspaceId })
    const tg = await act.link(app)
    const place = async () => (await act.open(token, tg)).body.workspaces[0]
    const become = (status: 'suspended' | 'revoked') =>
      platform.deps.table.transact([InstallationEntity.update(installation, { set: { status } })])
    await become('suspended')
    expect((await place()).blocked_by).toBe('installation_suspended')
    expect((await act.decide(token, tg)).body.error.code).toBe('installation_suspended')
    await become('revoked')
    expect(await place()).toMatchObject({ blocked_by: null, granted_scopes: null })
  })

  it('belongs to the first person who opens it, and is not found for others, to read or to decide', async () => {
    const { app } = await installed(platform.deps)
    const [first, other] = [await act.signIn(), await act.signIn()]
    const tg = await act.link(app)
    expect((await act.open(first.token, tg)).status).toBe(200)
    expect((await act.open(other.token, tg)).body.error.code).toBe('not_found')
    expect((await act.decide(other.token, tg)).body.error.code).toBe('not_found')
    expect((await act.open(first.token, tg)).status).toBe(200)
  })

  it('stays open for an admin after a member who can’t approve it opened it', async () => {
    const { app } = await installed(platform.deps)
    const tg = await act.link(app)
    const workspace = 'passed-on'
    const admin = await act.signIn({ user: 'passed-on-admin', workspace })
    const member = await act.signIn({ user: 'passed-on-member', workspace, role: 'member' })
    const seen = await act.open(member.token, tg)
    expect(seen.body).toMatchObject({ claimed: false, workspaces: [{ blocked_by: 'admin_required' }] })
    expect((await act.decide(member.token, tg)).body.error.code).toBe('admin_required')
    expect((await act.open(member.token, tg)).body.claimed).toBe(false)
    expect((await act.open(admin.token, tg)).body).toMatchObject({ claimed: true, workspaces: [{ blocked_by: null }] })
    const approved = await act.decide(admin.token, tg)
    expect(approved.body.redirect_to).toContain('code=code_')
  })

  it('stays open while its opener is in a workspace where they can’t approve it, even if they can elsewhere', async () => {
    const { app } = await installed(platform.deps)
    const user = 'owner-at-home'
    await act.signIn({ user })
    const { token } = await act.signIn({ user, workspace: 'member-at-work', role: 'member' })
    const tg = await act.link(app)
    expect((await act.open(token, tg)).body.claimed).toBe(false)
    const other = await act.signIn()
    expect((await act.open(other.token, tg)).body.claimed).toBe(true)
    expect((await act.open(token, tg)).body.error.code).toBe('not_found')
  })

  it('gets one owner when 20 people open it concurrently', async () => {
    const { app } = await installed(platform.deps)
    const persons = await Promise.all(Array.from({ length: 20 }, () => act.signIn()))
    const tg = await act.link(app)
    const answers = await Promise.all(persons.map(({ token }) => act.open(token, tg)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(404)])
  })

  it('expires after 10 minutes', async () => {
    const { app } = await installed(platform.deps)
    const person = await act.signIn()
    const tg = await act.link(app)
    platform.clock.advance(599_999)
    expect((await act.open(person.token, tg)).status).toBe(200)
    platform.clock.advance(1)
    for (const answer of [await act.open(person.token, tg), await act.decide(person.token, tg)]) {
      expect([answer.status, answer.body.error.code]).toEqual([400, 'expired_consent_link'])
    }
  })

  it('tells everyone for a day that it expired, no matter who opened or decided it', async () => {
    const { app } = await installed(platform.deps)
    const [first, other] = [await act.signIn(), await act.signIn()]
    const [opened, denied, untouched] = [await act.link(app), await act.link(app), await act.link(app)]
    await act.open(first.token, opened)
    await act.decide(first.token, denied, { decision: 'deny' })
    expect((await act.open(other.token, denied)).body.error.code, 'within its 10 minutes').toBe('not_found')
    for (const later of [600_000, 86_399_000]) {
      platform.clock.advance(later)
      const { token } = await act.signIn()
      for (const tg of [opened, denied, untouched]) {
        expect((await act.open(token, tg)).body.error.code, `${later}`).toBe('expired_consent_link')
        expect((await act.decide(token, tg)).body.error.code, `${later}`).toBe('expired_consent_link')
      }
    }
  })

  it('is not found for an unknown nonce', async () => {
    const { token } = await act.signIn()
    expect((await act.open(token, 'x'.repeat(43))).body.error.code).toBe('not_found')
    expect((await act.open(token, 'x y')).body.error.code).toBe('validation_error')
    expect((await platform.call('GET', '/oauth/consent/request?tg=abc')).body.error.code).toBe('unauthorized')
  })
})

describe('GET /oauth/consent/status', () => {
  const status = async (tg: string) => (await platform.call('GET', `/oauth/consent/status?tg=${tg}`)).body
  const OVER = { over: true, expires_at: null, expires_in: null, app: null }

  it('reports that a link is valid and for how long, without claiming it', async () => {
    const { app } = await installed(platform.deps)
    const tg = await act.link(app)
    platform.clock.advance(1_500)
    const answer = await platform.call('GET', `/oauth/consent/status?tg=${tg}`)
    expect(answer.body).toMatchObject({ over: false, expires_in: 599 })
    expect(answer.body.app, 'names the app before anybody signs in').toEqual({
      name: app.name,
      developer_name: expect.any(String),
      verified: app.verified,
    })
    expect(Date.parse(answer.body.expires_at)).toBe(platform.clock.now() + 598_500)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect((await act.open((await act.signIn()).token, tg)).status).toBe(200)
    expect((await status(tg)).over, 'opening decides nothing').toBe(false)
  })

  it('answers an approved, a denied, an expired and an unknown link alike', async () => {
    const { app } = await installed(platform.deps)
    const person = await act.signIn()
    for (const decision of ['approve', 'deny']) {
      const tg = await act.link(app)
      await act.decide(person.token, tg, { decision })
      expect(await status(tg)).toEqual(OVER)
    }
    const late = await act.link(app)
    platform.clock.advance(600_000)
    expect(await status(late)).toEqual(OVER)
    expect(await status('x'.repeat(43))).toEqual(OVER)
  })
})

describe('approving', () => {
  it('installs the app, creates a grant and a code, and emits events', async () => {
    const { app } = await installed(platform.deps, { scopes: ['runs:read', 'workspace:read'] })
    const { back, person } = await act.consented(app)
    expect(back.origin + back.pathname).toBe('https://client.example/callback')
    expect(back.searchParams.get('state')).toBe('st/ate?&=é')
    expect(back.searchParams.get('iss')).toBe('https://platform.test')
    expect(back.searchParams.get('code')).toMatch(/^code_[0-9a-z]{26}_[\w-]{43}$/)
    const [installation] = await installationsOf(person.workspace.id)
    expect(installation).toMatchObject({
      app_id: app.id,
      status: 'active',
      scopes: ['workspace:read', 'runs:read'],
      version: '1.0.0',
      is_sandbox: false,
      owner: { id: person.user.id },
    })
    expect(platform.outbox.map(({ type }) => type)).toEqual(['installation.created'])
    const audit = await platform.deps.table.query(AuditEntity, { scope: person.workspace.id }, { limit: 10 })
    expect(audit.items.map(({ action }) => action).sort()).toEqual(['consent.approved', 'installation.created'])
  })

  it('grants fewer scopes when the person chooses so, never more', async () => {
    const client = await installed(platform.deps, { scopes: ['runs:read', 'chat:write', 'files:write'] })
    const { app } = client
    const consent = await act.consented(app, { scope: 'runs:read chat:write' }, { scopes: ['runs:read'] })
    const tokens = await act.redeem(client, consent)
    expect(tokens.body.scope).toBe('runs:read')
    const person = await act.signIn()
    const tg = await act.link(app, { scope: 'runs:read chat:write' })
    const more = await act.decide(person.token, tg, { decision: 'approve', scopes: ['files:write'] })
    expect([more.status, more.body.error.code]).toEqual([403, 'insufficient_scope'])
    expect((await act.decide(person.token, tg, { decision: 'approve', scopes: ['no:such'] })).status).toBe(422)
    expect((await act.decide(person.token, tg)).status).toBe(200)
  })

  it('keeps the installation at a second consent, adds its scopes, and creates another grant', async () => {
    const client = await installed(platform.deps, { scopes: ['runs:read', 'chat:write'] })
    const person = await act.signIn()
    const consent = async (scopes: string[]) => {
      const { verifier, challenge } = pkce()
      const tg = await act.link(client.app, { code_challenge: challenge })
      const answer = await act.decide(person.token, tg, { decision: 'approve', scopes })
      const code = new URL(answer.body.redirect_to).searchParams.get('code') ?? ''
      return (await act.redeem(client, { code, verifier })).body
    }
    const first = await consent(['runs:read'])
    const second = await consent(['chat:write'])
    expect(second.installation_id).toBe(first.installation_id)
    expect(await installationsOf(person.workspace.id)).toHaveLength(1)
    expect(platform.outbox.map(({ type }) => type)).toEqual(['installation.created', 'installation.updated'])
    const refreshed = await act.refresh(client, first.refresh_token)
    expect(refreshed.body.scope, 'the older chain lives on with its own scopes').toBe('runs:read')
    const [installation] = await installationsOf(person.workspace.id)
    expect(installation?.scopes, 'those of both consents').toEqual(['runs:read', 'chat:write'])
  })

  it('grants nothing more to an app that requests more, until the customer consents again', async () => {
    const client = await installed(platform.deps, { scopes: ['workspace:read'] })
    const person = await act.signIn()
    const consent = async (tg: string, verifier: string) => {
      const answer = await act.decide(person.token, tg)
      const code = new URL(answer.body.redirect_to).searchParams.get('code') ?? ''
      return (await act.redeem(client, { code, verifier })).body
    }
    const first = pkce()
    const old = await consent(await act.link(client.app, { code_challenge: first.challenge }), first.verifier)
    await platform.deps.table.transact([
      AppEntity.update({ id: client.app.id }, { set: { requested_scopes: ['workspace:read', 'runs:read'] } }),
    ])
    const runs = async (token: string) => (await platform.call('GET', '/api/v1/runs', { token })).status
    const again = pkce()
    const tg = await act.link(client.app, { code_challenge: again.challenge })
    const { body } = await act.open(person.token, tg)
    expect(body.scopes.map(({ scope }: { scope: string }) => scope)).toEqual(['workspace:read', 'runs:read'])
    expect(body.workspaces[0].granted_scopes).toEqual(['workspace:read'])
    expect([await act.works(old.access_token), await runs(old.access_token)]).toEqual([200, 403])

    const wider = await consent(tg, again.verifier)
    expect(wider.scope).toBe('workspace:read runs:read')
    expect([await act.works(wider.access_token), await runs(wider.access_token)]).toEqual([200, 200])
    expect(await runs(old.access_token), 'the older grant stays what it was').toBe(403)
  })

  it('accepts in the Mini App a session that the messaging app vouches for', async () => {
    const { app } = await installed(platform.deps)
    const person = await act.signIn()
    const tg = await act.link(app)
    for (const decision of ['approve', 'deny']) {
      const refused = await act.decide(person.token, tg, { decision, entry: 'mini_app' })
      expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden'])
    }
    const init_data = createSigner(TEST_BOT.token, () => platform.clock.now()).initData(personOf({ first_name: 'Ann' }))
    const vouched = await platform.call('POST', '/console/bot/webapp-auth', { body: { init_data } })
    const approved = await act.decide(vouched.body.token, tg, { decision: 'approve', entry: 'mini_app' })
    expect(approved.status).toBe(200)
  })

  it('redirects to no address that the developer has removed, whether approved or denied', async () => {
    const { app } = await installed(platform.deps)
    const person = await act.signIn()
    const tg = await act.link(app)
    const redirect_uris = ['https://client.example/other']
    await platform.deps.table.transact([AppEntity.update({ id: app.id }, { set: { redirect_uris } })])
    for (const decision of ['approve', 'deny']) {
      const refused = await act.decide(person.token, tg, { decision })
      expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_redirect_uri'])
    }
  })

  it('creates another installation after the previous one was removed', async () => {
    const client = await installed(platform.deps)
    const { person } = await act.consented(client.app)
    const [old] = await installationsOf(person.workspace.id)
    if (!old) throw new Error('not installed')
    await platform.deps.table.transact([InstallationEntity.update(old, { set: { status: 'revoked' } })])
    platform.clock.advance(1)
    expect((await act.decide(person.token, await act.link(client.app))).status).toBe(200)
    const all = await installationsOf(person.workspace.id)
    expect(all.map(({ status }) => status)).toEqual(['active', 'revoked'])
    const guard = { workspace_id: person.workspace.id, app_id: client.app.id }
    expect((await platform.deps.table.get(AppInstallationEntity, guard))?.installation_id).toBe(all[0]?.id)
  })

  it('creates one installation for 10 concurrent consents', async () => {
    const { app } = await installed(platform.deps)
    const person = await act.signIn()
    const links = await Promise.all(Array.from({ length: 10 }, () => act.link(app)))
    const answers = await Promise.all(links.map((tg) => act.decide(person.token, tg)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(await installationsOf(person.workspace.id)).toHaveLength(1)
  })

  it('decides once, even when an approval and a denial are concurrent', async () => {
    const { app } = await installed(platform.deps)
    const person = await act.signIn()
    const tg = await act.link(app)
    const answers = await Promise.all(
      ['approve', 'deny', 'approve', 'deny'].map((decision) => act.decide(person.token, tg, { decision })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
    expect((await act.open(person.token, tg)).body.error.code).toBe('expired_consent_link')
  })

  it('returns the redirect to the approving session only, even under the same Idempotency-Key', async () => {
    const client = await installed(platform.deps)
    const body = { user: 'one-person', workspace: 'one-workspace' }
    const [here, there] = await Promise.all([0, 1].map(() => platform.call('POST', '/console/session', { body })))
    const tg = await act.link(client.app)
    const headers = { 'idempotency-key': 'approve-here' }
    const first = await act.decide(here?.body.token, tg, { decision: 'approve' }, headers)
    expect(first.status).toBe(200)
    const other = await act.decide(there?.body.token, tg, { decision: 'approve' }, headers)
    expect(other.status).toBeGreaterThanOrEqual(400)
    expect(other.text).not.toContain('code_')
    expect((await act.decide(here?.body.token, tg, { decision: 'approve' }, headers)).text).toBe(first.text)
  })

  it('names the error in an invalid body, and again for the same Idempotency-Key', async () => {
    const { token } = await act.signIn()
    for (const body of ['null', '"text"', '[]']) {
      const key = { 'idempotency-key': `no body ${body}`, 'content-type': 'application/json' }
      for (let time = 1; time <= 2; time++) {
        const answer = await platform.call('POST', '/oauth/consent/decision', { token, headers: key, body })
        expect([answer.status, answer.body.error.code], `${body}, time ${time}`).toEqual([422, 'validation_error'])
      }
    }
  })

  it('without a workspace installs into the one of the token, whatever workspace the session switched to', async () => {
    const { app } = await installed(platform.deps)
    const [there, here] = [await act.signIn({ user: 'of-two' }), await act.signIn({ user: 'of-two' })]
    const switched = await platform.call('POST', '/console/session/workspace', {
      token: here.token,
      body: { workspace_id: there.workspace.id },
    })
    expect(switched.status, switched.text).toBe(200)
    expect((await act.decide(here.token, await act.link(app))).status).toBe(200)
    expect(await installationsOf(here.workspace.id)).toHaveLength(1)
    expect(await installationsOf(there.workspace.id)).toHaveLength(0)
  })

  it('replaces a stored refusal under the same Idempotency-Key by the final decision', async () => {
    const { app } = await installed(platform.deps)
    const { token, user, workspace } = await act.signIn({ role: 'member' })
    const tg = await act.link(app)
    const send = () => act.decide(token, tg, { decision: 'approve' }, { 'idempotency-key': 'made-admin-meanwhile' })
    expect((await send()).body.error?.code).toBe('admin_required')
    const at = { workspace_id: workspace.id, user_id: user.id }
    await platform.deps.table.transact([MemberEntity.update(at, { set: { role: 'admin' } })])
    const sent = await Promise.all([send(), send(), send()])
    const [approved, ...others] = sent.filter(({ status }) => status === 200)
    if (!approved) throw new Error(sent.map(({ text }) => text).join())
    for (const one of others) expect(one.text).toBe(approved.text)
    const again = await send()
    expect([again.text, again.headers['idempotency-replayed']]).toEqual([approved.text, 'true'])
  })

  it.each<[code: string, set: Parameters<typeof AppEntity.update>[1]['set']]>([
    ['invalid_redirect_uri', { redirect_uris: ['https://client.example/other'] }],
    ['app_not_approved', { status: 'in_review' }],
    ['no_manifest', { promoted_version_id: 'ver_none' }],
  ])('tells the person, who isn’t a developer, what to do about %s', async (code, set) => {
    const { app } = await installed(platform.deps)
    const person = await act.signIn()
    const tg = await act.link(app)
    await platform.deps.table.transact([AppEntity.update({ id: app.id }, { set })])
    const { error } = (await act.decide(person.token, tg)).body
    expect(error.code).toBe(code)
    expect(`${error.message} ${error.fix}`).not.toMatch(/PATCH|POST|redirect_uri|submit|manifest/)
  })

  it('requires an admin of the chosen workspace', async () => {
    const { app } = await installed(platform.deps)
    const member = await act.signIn({ role: 'member' })
    const refused = await act.decide(member.token, await act.link(app))
    expect([refused.status, refused.body.error.code]).toEqual([403, 'admin_required'])
    expect(refused.body.error.message).toContain('admin')
    const admin = await act.signIn({ role: 'admin' })
    expect((await act.decide(admin.token, await act.link(app))).status).toBe(200)
  })

  it('requires a workspace that the person is in', async () => {
    const { app } = await installed(platform.deps)
    const [one, other] = [await act.signIn(), await act.signIn()]
    for (const workspace_id of [other.workspace.id, 'ws_01kae5m1v8w6c3x9q2r7t4y0zn', 'nonsense']) {
      const answer = await act.decide(one.token, await act.link(app), { decision: 'approve', workspace_id })
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
    }
  })

  it('allows an unapproved app in sandbox workspaces only', async () => {
    const { app } = await installed(platform.deps)
    await setStatus(app.id, 'in_review')
    const person = await act.signIn()
    const tg = await act.link(app)
    expect((await act.open(person.token, tg)).body.workspaces[0].blocked_by).toBe('app_not_approved')
    const refused = await act.decide(person.token, tg)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'app_not_approved'])
    await platform.deps.table.transact([
      WorkspaceEntity.update({ id: person.workspace.id }, { set: { is_sandbox: true } }),
    ])
    expect((await act.decide(person.token, tg)).status).toBe(200)
    expect((await installationsOf(person.workspace.id))[0]?.is_sandbox).toBe(true)
  })

  it('changes the scopes of a delisted app where it is installed, and installs it nowhere else', async () => {
    const client = await installed(platform.deps, { scopes: ['runs:read', 'chat:write'] })
    const { person } = await act.consented(client.app, { scope: 'runs:read' })
    const [before] = await installationsOf(person.workspace.id)
    await setStatus(client.app.id, 'delisted')

    const { verifier, challenge } = pkce()
    const tg = await act.link(client.app, { code_challenge: challenge })
    expect((await act.open(person.token, tg)).body.workspaces).toMatchObject([{ blocked_by: null }])
    const again = await act.decide(person.token, tg)
    expect(again.status, again.text).toBe(200)
    const code = new URL(again.body.redirect_to).searchParams.get('code') ?? ''
    const tokens = await act.redeem(client, { code, verifier })
    expect([tokens.status, tokens.body.scope]).toEqual([200, 'runs:read chat:write'])
    expect(await installationsOf(person.workspace.id)).toMatchObject([
      { id: before?.id, status: 'active', scopes: ['runs:read', 'chat:write'] },
    ])

    const stranger = await act.signIn()
    const link = await act.link(client.app)
    expect((await act.open(stranger.token, link)).body.workspaces[0].blocked_by).toBe('app_not_approved')
    const { status, body } = await act.decide(stranger.token, link)
    expect([status, body.error.code]).toEqual([403, 'app_not_approved'])
    expect(body.error.message).toMatch(/removed from the marketplace/)
    expect(body.error.fix).toMatch(/a workspace that has the app/)
    expect(await installationsOf(stranger.workspace.id)).toEqual([])
  })

  it('refuses a delisted app that is uninstalled before or during the consent', async () => {
    const { app } = await installed(platform.deps)
    const { person } = await act.consented(app)
    const [at] = await installationsOf(person.workspace.id)
    if (!at) throw new Error('not installed')
    await setStatus(app.id, 'delisted')
    const tg = await act.link(app)
    const { table } = platform.deps
    const transact = table.transact.bind(table)
    // The installation has changed between its read and the write of the consent.
    vi.spyOn(table, 'transact').mockImplementationOnce(async (writes) => {
      await transact([InstallationEntity.update(at, { set: { status: 'revoked' } })])
      return transact(writes)
    })
    for (const _ of ['while', 'after']) {
      const { status, body } = await act.decide(person.token, tg)
      expect([status, body.error?.code]).toEqual([403, 'app_not_approved'])
    }
    expect((await act.open(person.token, tg)).body.workspaces[0].blocked_by).toBe('app_not_approved')
    expect(await installationsOf(person.workspace.id)).toMatchObject([{ id: at.id, status: 'revoked' }])
  })

  it('refuses a suspended app, and reports it when reading, too', async () => {
    const { app } = await installed(platform.deps)
    const person = await act.signIn()
    const tg = await act.link(app)
    await setStatus(app.id, 'suspended')
    for (const answer of [await act.open(person.token, tg), await act.decide(person.token, tg)]) {
      expect([answer.status, answer.body.error.code]).toEqual([403, 'app_suspended'])
    }
  })

  it('refuses scopes that an admin of the workspace denied', async () => {
    const { app } = await installed(platform.deps, { scopes: ['runs:read', 'chat:write'] })
    const person = await act.signIn()
    await platform.deps.table.transact([
      WorkspaceEntity.update({ id: person.workspace.id }, { set: { denied_scopes: ['chat:write'] } }),
    ])
    const tg = await act.link(app)
    expect((await act.decide(person.token, tg)).body.error.code).toBe('scope_denied_by_admin')
    expect((await act.decide(person.token, tg, { decision: 'approve', scopes: ['runs:read'] })).status).toBe(200)
  })
})

describe('denying', () => {
  it('redirects with access_denied, state and iss, and installs nothing', async () => {
    const { app } = await installed(platform.deps)
    const person = await act.signIn({ role: 'member' })
    const answer = await act.decide(person.token, await act.link(app), { decision: 'deny' })
    expect(Object.fromEntries(new URL(answer.body.redirect_to).searchParams)).toEqual({
      error: 'access_denied',
      state: 'st/ate?&=é',
      iss: 'https://platform.test',
    })
    expect(await installationsOf(person.workspace.id)).toEqual([])
  })
})

describe('the consent pages', () => {
  const PAGES = ['/oauth/consent', '/oauth/consent/mini-app']

  it.each(PAGES)('%s runs only its own script, is small, and sends no referrer', async (path) => {
    const { headers, text } = await platform.call('GET', `${path}?tg=x`)
    const policy = headers['content-security-policy'] ?? ''
    for (const tag of ['script', 'style']) {
      const inside = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(text)?.[1] ?? ''
      expect(policy).toContain(`${tag}-src 'sha256-${createHash('sha256').update(inside).digest('base64')}'`)
    }
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
    expect(text).not.toMatch(/(src|href)="\//)
    expect(Buffer.byteLength(text)).toBeLessThan(40_000)
  })

  it('can be framed by the messaging app’s web client only, and the plain page by no one', async () => {
    const [page, miniApp] = await Promise.all(PAGES.map((path) => platform.call('GET', path)))
    expect(page?.headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(page?.headers['x-frame-options']).toBe('DENY')
    expect(miniApp?.headers['content-security-policy']).toMatch(/frame-ancestors https:\/\/web\.telegram\.org;/)
    expect(miniApp?.headers['content-security-policy']).toMatch(
      /; require-trusted-types-for 'script'; trusted-types 'none'$/,
    )
    expect(page?.headers['content-security-policy']).toMatch(
      /; require-trusted-types-for 'script'; trusted-types telegram-widget$/,
    )
    expect(miniApp?.headers).not.toHaveProperty('x-frame-options')
  })

  it('allow the login widget on the plain page only, and only if links lead to the messenger itself', async () => {
    const allowed = async ({ call }: Pick<TestPlatform, 'call'>) =>
      (await Promise.all(PAGES.map((path) => call('GET', path)))).map(({ headers }) =>
        /https:\/\/(oauth\.)?telegram\.org/.test(headers['content-security-policy'] ?? ''),
      )
    expect(await allowed(platform)).toEqual([true, false])
    const standIn = await startPlatform({ TELEGRAM_LINK_URL: 'http://127.0.0.1:4' })
    expect(await allowed(standIn)).toEqual([false, false])
    await standIn.stop()
  })

  it('rely on a bearer token alone: no cookie is set, and no other site may send the header', async () => {
    const { app } = await installed(platform.deps)
    const tg = await act.link(app)
    const page = await platform.call('GET', `/oauth/consent?tg=${tg}`)
    expect(page.headers).not.toHaveProperty('set-cookie')
    const body = { tg, decision: 'approve' }
    const cookie = { cookie: 'console-session=anything', origin: 'https://evil.example' }
    expect((await platform.call('POST', '/oauth/consent/decision', { body, headers: cookie })).status).toBe(401)
    const preflight = await platform.call('OPTIONS', '/oauth/consent/decision', {
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    })
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})
