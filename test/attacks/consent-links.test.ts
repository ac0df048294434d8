import { describe, expect, it } from 'vitest'
import { installed } from '#testkit/fixtures.ts'
import { actors } from '#testkit/oauth.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const act = actors(platform)

describe('a consent link', () => {
  it('is neither blocked by a member who can’t approve it, nor theirs once an admin has opened it', async () => {
    const { app } = await installed(platform.deps)
    const tg = await act.link(app)
    const member = await act.signIn({ role: 'member' })
    expect((await act.open(member.token, tg)).status).toBe(200)

    const admin = await act.signIn()
    expect((await act.open(admin.token, tg)).status, 'opened by a member before').toBe(200)
    for (const decision of ['approve', 'deny']) {
      const refused = await act.decide(member.token, tg, { decision })
      expect([refused.status, refused.body.error.code, refused.text.includes('code_')]).toEqual([
        404,
        'not_found',
        false,
      ])
    }
    expect((await act.open(member.token, tg)).body.error.code).toBe('not_found')
    expect((await act.decide(admin.token, tg)).body.redirect_to).toContain('code=')
  })

  it('reveals nothing about its decision by what it answers to others', async () => {
    const { app } = await installed(platform.deps)
    const [one, other] = [await act.signIn(), await act.signIn()]
    const links = { approved: await act.link(app), denied: await act.link(app), opened: await act.link(app) }
    await act.decide(one.token, links.approved)
    await act.decide(one.token, links.denied, { decision: 'deny' })
    await act.open(one.token, links.opened)
    const answers = async () => {
      const all = await Promise.all(Object.values(links).map((tg) => act.open(other.token, tg)))
      return new Set(all.map(({ status, body }) => `${status} ${body.error.code} ${body.error.message}`))
    }
    expect(await answers()).toEqual(new Set(['404 not_found Consent request not found.']))
    platform.clock.advance(600_000)
    expect([...(await answers())]).toEqual([expect.stringMatching(/^400 expired_consent_link /)])
  })
})
