import { beforeEach, describe, expect, it } from 'vitest'
import { AppThreadEntity, threadsWaitingFor } from '#shared/moderation/correspondence/entity.ts'
import { VerificationEntity, verificationsBy } from '#shared/moderation/verification/entity.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { listDirectory } from '#shared/table/lists.ts'
import { APPLICATION, newApp, newDeveloper, type TestDeveloper } from '#testkit/developers.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

let developer: TestDeveloper
const platform = usingPlatform()
beforeEach(async () => {
  platform.clock.advance(60_000)
  developer = await newDeveloper(platform)
})

const apply = (fields: Record<string, unknown> = {}) =>
  developer.call('POST', '/api/v1/dev/verification', { ...APPLICATION, ...fields })
const state = async () => (await developer.call('GET', '/api/v1/dev/verification')).body

describe('applying for the verified badge', () => {
  it('is pending, audited and listed for moderators', async () => {
    expect(await state()).toEqual({ verified: false, application: null })
    const { status, body } = await apply()
    expect([status, body]).toEqual([
      201,
      {
        ...APPLICATION,
        id: expect.stringMatching(/^vrf_/),
        status: 'pending',
        registration_number: null,
        reason: null,
        decided_at: null,
        created_at: expect.any(String),
      },
    ])
    expect(await state()).toEqual({ verified: false, application: body })
    const list = await listDirectory(platform.deps.table, VerificationEntity, verificationsBy('pending'), undefined, {
      limit: 10,
    })
    expect(list.items).toContainEqual(expect.objectContaining({ id: body.id, developer_id: developer.id }))
    const { items } = await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 3 })
    expect(items).toContainEqual(
      expect.objectContaining({ action: 'verification.requested', target: { type: 'verification', id: body.id } }),
    )
  })

  it('allows one application at a time: nine of ten concurrent ones are conflicts, and so is a later one', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => apply()))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
    const { status, body } = await apply()
    expect([status, body.error.code]).toEqual([409, 'conflict'])
  })

  it('names invalid fields, and refuses a blocked website address', async () => {
    const wrong = await apply({ country: 'nl', contact_email: 'none', legal_name: ' ' })
    expect(Object.keys(wrong.body.error.details.fields).sort()).toEqual(['contact_email', 'country', 'legal_name'])
    const blocked = await apply({ website: 'https://10.0.0.1/' })
    expect([blocked.status, blocked.body.error.code]).toEqual([422, 'blocked_target'])
  })
})

describe('messages with the moderators', () => {
  it('contain both sides, newest first, and show who has to reply', async () => {
    const app = await newApp(developer)
    const path = `/api/v1/dev/apps/${app.id}/messages`
    const asked = await developer.call('POST', path, { text: 'Which policy counts?' })
    expect([asked.status, asked.body.author]).toEqual([
      201,
      { type: 'developer', id: developer.id, name: 'Ada Example' },
    ])
    const waiting = async (whom: 'moderator' | 'developer') => {
      const options = { limit: 50 }
      const page = await listDirectory(
        platform.deps.table,
        AppThreadEntity,
        threadsWaitingFor(whom),
        undefined,
        options,
      )
      return page.items.some(({ app_id }) => app_id === app.id)
    }
    expect([await waiting('moderator'), await waiting('developer')]).toEqual([true, false])

    platform.clock.advance(1_000)
    await platform.call('POST', `/admin/apps/${app.id}/messages`, {
      headers: { 'x-admin-key': 'local-admin-key' },
      body: { text: 'The newer one.' },
    })
    expect([await waiting('moderator'), await waiting('developer')]).toEqual([false, true])
    const { body } = await developer.call('GET', path)
    expect(body.items.map(({ text }: { text: string }) => text)).toEqual(['The newer one.', 'Which policy counts?'])
    expect(body.items[0].author, 'which moderator wrote stays among them').toEqual({
      type: 'moderator',
      id: 'moderation',
      name: 'Moderation',
    })
    const second = await developer.call('GET', `${path}?limit=1`)
    const next = await developer.call('GET', `${path}?limit=1&cursor=${second.body.next_cursor}`)
    expect(next.body.items[0].text).toBe('Which policy counts?')
  })
})
