import { beforeEach, describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { looksOf } from '#shared/kernel/looks.ts'
import { asAdmin, submitApp } from '#test/functions/admin/moderation-support.ts'
import { succeedsWith, usingAgents } from '#test/functions/api/agents-support.ts'
import { newApp, newDeveloper, unique } from '#testkit/developers.ts'
import { actors } from '#testkit/oauth.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)
beforeEach(() => platform.clock.advance(60_000))

const admin = (...given: Parameters<ReturnType<typeof asAdmin>>) => asAdmin(platform)(...given)
const approve = (id: string, body: object = {}) => admin('POST', `/admin/apps/${id}/approve`, body)

/** Lists an app under a name. */
const listed = async (name: string) => {
  const made = await submitApp(platform, { name })
  await succeeded(approve(made.app.id))
  return made
}

const shareALook = async (one: string, other: string): Promise<boolean> => {
  const looks = await looksOf(other)
  return (await looksOf(one)).some((look) => looks.includes(look))
}

describe('two names look alike', () => {
  it.each([
    ['PayPal', 'PayPaI'],
    ['PayPal', 'Рауpаl'],
    ['PayPal', 'PAYPAL'],
    ['PayPal', 'Ｐａｙ Ｐａｌ'],
    ['Stock helper', '𝐒𝐭𝐨𝐜𝐤-𝐡𝐞𝐥𝐩𝐞𝐫'],
    ['Modern', 'Modem'],
    ['Stock 10', 'Stock lO'],
    ['Ινбо', 'Ινбо'],
  ])('%s and %s', async (one, other) => expect(await shareALook(one, other)).toBe(true))

  it.each([
    ['Stock helper', 'Stock keeper'],
    ['Zoë', 'Zoe'],
    ['Stock 1', 'Stock 2'],
    ['株式会社', '有限会社'],
  ])('but %s and %s don’t', async (one, other) => expect(await shareALook(one, other)).toBe(false))
})

describe('an app whose name looks like that of another developer’s listed app', () => {
  it('fails its review until a moderator accepts that explicitly, and is flagged to people who install it', async () => {
    const name = `Harbor Pilot ${unique('n')}`
    const honest = await listed(name)
    const copy = await submitApp(platform, {
      name: name.replace('o', 'о'),
      type: 'integration',
      redirect_uris: ['https://copy.example/cb'],
      requested_scopes: ['runs:read'],
    })
    const { body: checks } = await admin('GET', `/admin/apps/${copy.app.id}/checks`)
    const check = checks.checks.find(({ id }: { id: string }) => id === 'similar_name')
    expect(check).toMatchObject({ status: 'failed', evidence: { similar_to: [{ app_id: honest.app.id, name }] } })

    const refused = await approve(copy.app.id)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    expect(refused.body.error.details).toMatchObject({
      failed_checks: ['similar_name'],
      similar_to: [{ slug: honest.app.slug }],
    })
    expect((await approve(copy.app.id, { accepted_checks: ['similar_name'] })).status).toBe(200)
    const { history } = (await admin('GET', `/admin/apps/${copy.app.id}`)).body
    expect(history.find(({ action }: { action: string }) => action === 'app.approved').details).toMatchObject({
      accepted_checks: ['similar_name'],
      similar_to: [honest.app.id],
    })

    const { signIn, link, open } = actors(platform)
    const person = await signIn()
    const flagged = [{ app_id: honest.app.id, slug: honest.app.slug, name, developer_name: 'Ada Example' }]
    const app = await platform.deps.table.get(AppEntity, { id: copy.app.id })
    if (!app) throw new Error('no such app')
    const tg = await link(app, { redirect_uri: 'https://copy.example/cb' })
    expect((await open(person.token, tg)).body.app.similar_to).toEqual(flagged)
    const page = await platform.call('GET', `/console/install/${copy.app.slug}`, { token: person.token })
    expect(page.body.app.similar_to).toEqual(flagged)
    const original = await platform.call('GET', `/console/install/${honest.app.slug}`, { token: person.token })
    expect(original.body.app.similar_to, 'the one that was there first isn’t').toEqual([])
  })

  it('can’t get the name by a revision either', async () => {
    const name = `Tide Table ${unique('n')}`
    await listed(name)
    const { developer, app } = await listed(`Another App ${unique('n')}`)
    const { body } = await developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, { name: name.toUpperCase() })
    const at = `/admin/apps/${app.id}/revisions/${body.pending_revision.id}/approve`
    expect((await admin('POST', at, {})).body.error.details.failed_checks).toEqual(['similar_name'])
    expect((await admin('POST', at, { accepted_checks: ['similar_name'] })).status).toBe(200)
  })

  it('of the same developer, or of an app that isn’t listed any more, passes', async () => {
    const name = `Signal Flag ${unique('n')}`
    const { developer, app } = await listed(name)
    const second = await submitApp(platform, { name }, {}, developer)
    await developer.call('POST', `/api/v1/dev/apps/${second.app.id}/submit`)
    expect((await approve(second.app.id)).status).toBe(200)
    await admin('POST', `/admin/apps/${app.id}/delist`, { reason: 'x' })
    await admin('POST', `/admin/apps/${second.app.id}/delist`, { reason: 'x' })
    const later = await submitApp(platform, { name })
    expect((await approve(later.app.id)).status).toBe(200)
    // A delisted app is reviewed again before it returns.
    expect((await approve(app.id)).body.error.details.failed_checks).toEqual(['similar_name'])
  })
})

describe('an agent’s calls', () => {
  it('can’t be taken by naming an app like another’s slug, or slugging it like another’s name', async () => {
    const honest = await listed(unique('harbor'))
    const { name } = (await honest.developer.call('GET', `/api/v1/dev/apps/${honest.app.id}`)).body
    const attacker = await newDeveloper(platform)
    const app = await newApp(attacker)
    for (const taken of [honest.app.slug, honest.app.slug.toUpperCase(), 'orchestrator', 'Orchestrator']) {
      const renamed = await attacker.call('PATCH', `/api/v1/dev/apps/${app.id}`, { name: taken })
      expect([renamed.status, Object.keys(renamed.body.error.details.fields)], taken).toEqual([422, ['name']])
      const made = await attacker.call('POST', '/api/v1/dev/apps', { slug: unique('mine'), type: 'agent', name: taken })
      expect(made.status, taken).toBe(422)
    }
    const squatted = await attacker.call('POST', '/api/v1/dev/apps', { slug: name, type: 'agent', name: 'Mine' })
    expect([squatted.status, squatted.body.error.code]).toEqual([409, 'slug_taken'])
    // Its own slug may be an app's name.
    expect((await attacker.call('PATCH', `/api/v1/dev/apps/${app.id}`, { name: app.slug })).status).toBe(200)
  })

  it('can’t be taken by renaming an installed app: the name at the installation counts', async () => {
    const [caller, honest, attacker] = await agents.team(
      {},
      { name: 'Payroll', behaviour: succeedsWith({ from: 'honest' }) },
      { name: 'Weather', behaviour: succeedsWith({ from: 'attacker' }) },
    )
    await platform.deps.table.transact([
      AppEntity.update(attacker.app, { set: { name: 'Payroll' } }),
      AppEntity.update(honest.app, { set: { name: 'Payroll 2' } }),
    ])
    const { token } = await agents.running(caller)
    const answer = await agents.asking(token, 'Payroll')
    expect(answer.body.result).toMatchObject({
      agent: 'Payroll',
      source: `agent:${honest.slug}`,
      output: { from: 'honest' },
    })
    const { body } = await platform.call('GET', '/api/v1/agents', { token: caller.token })
    expect(body.items.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['Payroll', 'Weather']))
  })

  it('name the slugs when a name is ambiguous', async () => {
    const [caller, one, other] = await agents.team({}, { name: 'Twin' }, { name: 'Twin' })
    const { status, body } = await agents.ask(caller.token, 'Twin')
    expect([status, body.error.code]).toEqual([409, 'ambiguous_agent'])
    for (const { slug } of [one, other]) {
      expect(body.error.message).toContain(slug)
      expect(body.error.fix).toContain(slug)
    }
  })
})
