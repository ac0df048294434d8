import { beforeEach, describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { OutgoingMailEntity } from '#shared/identity/mails/entity.ts'
import { DEFAULT_BRAND } from '#shared/kernel/brand.ts'
import { manifestFor, newApp, newDeveloper, publish, type TestDeveloper, unique } from '#testkit/developers.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { expectRefusal } from './support.ts'

const platform = usingPlatform({ DEVELOPER_PROOF: 'true' })
const local = usingPlatform()
const silent = usingPlatform({ DEVELOPER_PROOF: 'true', MAIL_FROM: '' })
beforeEach(() => {
  platform.clock.advance(24 * 3_600_000)
  platform.mails.length = 0
})

const DAY = 24 * 3_600_000
const withKey = (key: string) => ({ headers: { 'x-developer-key': key } })
const me = (key: string) => platform.call('GET', '/api/v1/dev/me', withKey(key))
const codeIn = (index = -1): string => /dvt_\S+/.exec(platform.mails.at(index)?.text ?? '')?.[0] ?? ''
const recover = (email: string) => platform.call('POST', '/api/v1/dev/recover', { body: { email } })
const confirmRecovery = (token: string) => platform.call('POST', '/api/v1/dev/recover/confirm', { body: { token } })
const emailOf = async ({ key }: TestDeveloper): Promise<string> => (await me(key)).body.email

describe('a developer’s e-mail address', () => {
  it('is confirmed with the code that was sent to it, once, by its own account, within an hour', async () => {
    const developer = await newDeveloper(platform)
    expect(platform.mails).toMatchObject([
      { to: await emailOf(developer), subject: `Confirm your e-mail address – ${DEFAULT_BRAND.name}` },
    ])
    const stranger = await newDeveloper(platform)
    const confirm = (by: TestDeveloper, token: string) =>
      by.call('POST', '/api/v1/dev/me/email-proof/confirm', { token })
    const code = codeIn(0)
    expectRefusal(await confirm(stranger, code), 'another account', 'forbidden')
    expectRefusal(await confirm(developer, `${code}x`), 'a wrong code', 'forbidden')
    expectRefusal(await confirmRecovery(code), 'for recovery', 'forbidden')
    expect((await confirm(developer, code)).body.email_verified).toBe(true)
    expectRefusal(await confirm(developer, code), 'twice', 'forbidden')
    platform.clock.advance(3_600_001)
    expectRefusal(await confirm(stranger, codeIn(1)), 'after an hour', 'forbidden')
    expect((await stranger.call('POST', '/api/v1/dev/me/email-proof')).status).toBe(200)
    expect((await confirm(stranger, codeIn())).body.email_verified).toBe(true)
  })

  it('must be confirmed before an app can be submitted, except where the deployment doesn’t ask for it', async () => {
    const submit = async (developer: TestDeveloper) => {
      const app = await newApp(developer)
      return { app, answer: await developer.call('POST', `/api/v1/dev/apps/${app.id}/submit`) }
    }
    const developer = await newDeveloper(platform)
    expectRefusal(await ready(developer), 'unconfirmed', 'email_not_verified')
    await developer.call('POST', '/api/v1/dev/me/email-proof/confirm', { token: codeIn() })
    expect((await ready(developer)).body.error?.code).not.toBe('email_not_verified')
    const { answer } = await submit(await newDeveloper(local))
    expect(answer.body.error.code).toBe('review_requirements_missing')
    expect(local.mails).toEqual([])
  })

  it('needn’t be confirmed by a developer whom the staff has verified by hand, as where no e-mail is sent', async () => {
    const developer = await newDeveloper(silent)
    const app = await newApp(developer)
    const submit = () => developer.call('POST', `/api/v1/dev/apps/${app.id}/submit`)
    const refused = await submit()
    expectRefusal(refused, 'unconfirmed', 'email_not_verified')
    expect(refused.body.error.fix).toContain('staff')
    const headers = { 'x-admin-key': 'local-admin-key' }
    expect((await silent.call('POST', `/admin/developers/${developer.id}/verify`, { headers })).status).toBe(200)
    expect((await submit()).body.error.code).toBe('review_requirements_missing')
    expect(silent.mails).toEqual([])
  })

  it('gets at most five e-mails at once, no matter who asks for them, and a failed one is sent again', async () => {
    const developer = await newDeveloper(platform)
    const email = await emailOf(developer)
    for (let n = 0; n < 4; n++) expect((await developer.call('POST', '/api/v1/dev/me/email-proof')).status).toBe(200)
    for (let n = 0; n < 6; n++) expect((await recover(email.toUpperCase())).body).toEqual({ accepted: true })
    expectRefusal(await developer.call('POST', '/api/v1/dev/me/email-proof'), 'the sixth', 'rate_limited')
    expect(platform.mails.length).toBeLessThanOrEqual(6)
    expect((await recover('nobody@example.com')).body).toEqual({ accepted: true })

    platform.clock.advance(DAY)
    platform.mails.length = 0
    const { send } = platform.deps.mail
    platform.deps.mail.send = () => Promise.reject(new Error('SES is down'))
    await recover(email)
    platform.deps.mail.send = send
    expect(platform.mails).toEqual([])
    platform.clock.advance(180_000)
    await platform.sweep()
    expect(platform.mails.map(({ subject }) => subject)).toEqual([
      `Recover your developer account – ${DEFAULT_BRAND.name}`,
    ])
    const { items } = await platform.deps.table.due(platform.clock.now() + DAY, 50).then((due) => ({
      items: due.filter(({ entity }) => entity === OutgoingMailEntity.name),
    }))
    expect(items).toEqual([])
  })
})

/** Creates an app that meets the other requirements, and submits it. */
const ready = async (developer: TestDeveloper) => {
  const app = await newApp(developer, {
    summary: 'S',
    description: 'D',
    logo_url: 'https://example.com/logo.png',
    privacy_url: 'https://example.com/privacy',
    support_email: 'help@example.com',
  })
  await platform.deps.table.transact([
    AppEntity.update({ id: app.id }, { set: { promoted_version: '1.0.0', test_run_at: platform.clock.now() } }),
  ])
  return developer.call('POST', `/api/v1/dev/apps/${app.id}/submit`)
}

describe('a lost key', () => {
  it('is replaced by e-mail, and every earlier key ends, so that a hijacker of the address loses the account', async () => {
    const email = `${unique('owner')}@example.com`
    // Somebody registers with an address that isn't theirs, and keeps a second key.
    const hijacked = await platform.call('POST', '/api/v1/dev/register', { body: { email, name: 'Mallory' } })
    const main = hijacked.body.api_key
    const second = await platform.call('POST', '/api/v1/dev/me/keys', { ...withKey(main), body: { name: 'spare' } })
    expect((await me(second.body.api_key)).status).toBe(200)
    await recover(email)
    expect(platform.mails.at(-1)).toMatchObject({
      to: email,
      subject: `Recover your developer account – ${DEFAULT_BRAND.name}`,
    })
    const code = codeIn()
    const { status, body } = await confirmRecovery(code)
    expect([status, body.developer.email_verified]).toEqual([200, true])
    for (const old of [main, second.body.api_key]) expectRefusal(await me(old), 'an earlier key', 'unauthorized')
    expect((await me(body.api_key)).status).toBe(200)
    expectRefusal(await confirmRecovery(code), 'twice', 'forbidden')
  })
})

describe('named keys', () => {
  it('work until they expire or are deleted, and end with a blocked account', async () => {
    const developer = await newDeveloper(platform)
    const make = (name: string, expires_in_days = 7) =>
      developer.call('POST', '/api/v1/dev/me/keys', { name, expires_in_days })
    const [ci, laptop, late] = [await make('ci'), await make('laptop', 30), await make('late', 60)]
    expectRefusal(await make('ci'), 'the same name', 'conflict')
    for (const { body } of [ci, laptop, late]) expect((await me(body.api_key)).status).toBe(200)
    const { body: list } = await developer.call('GET', '/api/v1/dev/me/keys')
    expect(list.items.map(({ name }: { name: string }) => name)).toEqual(['late', 'laptop', 'ci'])
    expect(JSON.stringify(list)).not.toContain('dvk_')
    const rotated = await platform.call('POST', '/api/v1/dev/me/rotate-key', withKey(late.body.api_key))
    expectRefusal(await me(late.body.api_key), 'a rotated key', 'unauthorized')
    expect((await me(developer.key)).status).toBe(200)

    platform.clock.advance(8 * DAY)
    expectRefusal(await me(ci.body.api_key), 'an expired key', 'unauthorized')
    expect((await developer.call('DELETE', `/api/v1/dev/me/keys/${laptop.body.id}`)).status).toBe(204)
    expectRefusal(await me(laptop.body.api_key), 'a deleted key', 'unauthorized')
    await platform.call('POST', `/admin/developers/${developer.id}/block`, {
      headers: { 'x-admin-key': 'local-admin-key' },
      body: { reason: 'Fraud' },
    })
    for (const key of [developer.key, rotated.body.api_key])
      expectRefusal(await me(key), 'a blocked account', 'not_a_developer')
  })

  it('are at most twenty, under concurrent calls too', async () => {
    const developer = await newDeveloper(platform)
    const answers: number[] = []
    for (let n = 0; n < 19; n++) {
      platform.clock.advance(1_000)
      answers.push((await developer.call('POST', '/api/v1/dev/me/keys', { name: `k${n}` })).status)
    }
    expect(new Set(answers)).toEqual(new Set([201]))
    const raced = await Promise.all(
      ['a', 'b', 'c'].map((name) => developer.call('POST', '/api/v1/dev/me/keys', { name })),
    )
    expect(raced.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })
})

describe('a vendor name', () => {
  it('is claimed before the first publication, never another developer’s, and a typing error fixes nothing', async () => {
    const developer = await newDeveloper(platform)
    const app = await newApp(developer)
    const early = await publish(developer, app)
    expectRefusal(early, 'unclaimed', 'invalid_manifest')
    expect(early.body.error.details.errors[0]).toMatchObject({
      path: '/id',
      fix: expect.stringContaining('/me/vendor'),
    })
    const vendor = manifestFor(developer, app).id.split('.')[0] as string
    const claim = (by: TestDeveloper, name: string) => by.call('POST', '/api/v1/dev/me/vendor', { vendor: name })
    expect((await claim(developer, vendor)).body.vendor).toBe(vendor)
    expect((await claim(developer, vendor)).status).toBe(200)
    expectRefusal(await claim(developer, 'another'), 'a second name', 'conflict')
    expect((await publish(developer, app)).status).toBe(201)

    const stranger = await newDeveloper(platform)
    const taken = await claim(stranger, vendor)
    expectRefusal(taken, 'another developer’s', 'conflict')
    expect(taken.body.error.message).toContain('belongs to another developer')
    const theirs = await newApp(stranger)
    const foreign = await publish(stranger, theirs, { id: `${vendor}.${theirs.slug}` })
    expectRefusal(foreign, 'another developer’s address', 'invalid_manifest')
    expect(foreign.body.error.details.errors[0].message).toContain('belongs to another developer')
    const raced = await Promise.all([
      claim(stranger, `${vendor}-x`),
      claim(await newDeveloper(platform), `${vendor}-x`),
    ])
    expect(raced.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})

describe('a draft', () => {
  it('can be deleted with everything that belongs to it, and its slug and place are free again', async () => {
    const developer = await newDeveloper(local)
    const app = await newApp(developer)
    expect((await publish(developer, app)).status).toBe(201)
    const { body: token } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
    const stranger = await newDeveloper(local)
    expectRefusal(await stranger.call('DELETE', `/api/v1/dev/apps/${app.id}`), 'another developer', 'not_found')
    expect((await developer.call('DELETE', `/api/v1/dev/apps/${app.id}`)).status).toBe(204)
    expectRefusal(await developer.call('GET', `/api/v1/dev/apps/${app.id}`), 'the app', 'not_found')
    const ended = await local.call('GET', '/api/v1/me', { token: token.access_token })
    expect(ended.status).toBe(401)
    await local.drain()
    const { table } = local.deps
    expect((await table.query(VersionEntity, { app_id: app.id }, { limit: 5 })).items).toEqual([])
    const { items } = await table.query(InstallationEntity, { workspace_id: developer.workspaceId }, { limit: 5 })
    expect(items.map(({ status }) => status)).toEqual(['revoked'])
    expect((await newApp(stranger, { slug: app.slug })).slug).toBe(app.slug)
    expectRefusal(await developer.call('DELETE', `/api/v1/dev/apps/${app.id}`), 'twice', 'not_found')
  })

  it('is the only app that can be deleted', async () => {
    const developer = await newDeveloper(local)
    const app = await newApp(developer)
    await local.deps.table.transact([
      AppEntity.update({ id: app.id }, { set: { status: 'approved', approved_at: local.clock.now() } }),
    ])
    expectRefusal(await developer.call('DELETE', `/api/v1/dev/apps/${app.id}`), 'approved', 'conflict')
  })
})
